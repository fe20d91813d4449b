/** The posts room: the store of loaded posts, and the components that show a post. */

export { default as Caption } from "./Caption.svelte";
export { commentsSheet } from "./commentsSheet.svelte";
export { default as PostCard } from "./PostCard.svelte";
export { default as PostSkeleton } from "./PostSkeleton.svelte";
export { type PostStore, postStore } from "./postStore.svelte";
export { viewer } from "./viewerState.svelte";
