/** Tagging people on a picture: for tags of a post and for mentions in a story. */

export { default as TagLayer } from "./TagLayer.svelte";
export { default as TagList } from "./TagList.svelte";
export { addTag } from "./tags";
