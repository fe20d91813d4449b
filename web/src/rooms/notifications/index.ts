/** The notifications room: the badge that every page shows; the list itself is a page. */
export { unread } from "./unread.svelte";
