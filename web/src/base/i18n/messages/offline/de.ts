/** German, the queue of what was done offline. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {};
