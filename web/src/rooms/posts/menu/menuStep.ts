/** Which dialog of the post menu is open. */
export type MenuStep = "list" | "collections" | "edit" | "delete" | "why";
