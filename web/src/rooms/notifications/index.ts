/** The notifications room: the unread badge. The list is a page that loads on demand. */
export { unread } from "./unread.svelte";
