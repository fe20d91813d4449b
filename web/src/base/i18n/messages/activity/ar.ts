/** Arabic, notifications. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {};
