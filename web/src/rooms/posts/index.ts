/** The posts room: the shelf every post stands on, and how a post is shown. */
export { default as Caption } from "./Caption.svelte";
export { default as PostCard } from "./PostCard.svelte";
export { default as PostGrid } from "./PostGrid.svelte";
export { default as PostSkeleton } from "./PostSkeleton.svelte";
export { type Shelf, shelf } from "./shelf.svelte";
