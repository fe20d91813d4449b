/** Arabic, the queue of what was done offline. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const ar: Translation<typeof en> = {};
