/** Arabic messages: direct messages. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {
  "messages.emptyTitle": "هنا ستكون المحادثات",
  "messages.emptyBody":
    "لا يمكن التراسل على انفراد بعد. تصلك الردود على قصصك والتعليقات على منشوراتك في صفحة النشاط.",
  "messages.toActivity": "افتح النشاط",
  "messages.findPeople": "ابحث عن أشخاص",
};
