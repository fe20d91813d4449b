/** Names on a picture: put there, moved, taken out. For tags of a post and for mentions in a story alike. */
export { default as NamedList } from "./NamedList.svelte";
export { default as Names } from "./Names.svelte";
export { withTag } from "./tags";
