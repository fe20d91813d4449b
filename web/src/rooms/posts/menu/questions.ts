/** What the menu may ask next. */
export type Question = "list" | "collections" | "edit" | "delete" | "why";
