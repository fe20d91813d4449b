/** German, search and explore. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {};
