/** German, comments and the page of a post. */
import type { Translation } from "../../types";
import type { en } from "./en";

export const de: Translation<typeof en> = {};
