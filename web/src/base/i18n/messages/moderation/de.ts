/** German, reports and the moderation queue. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {};
