/** The comments room. */
export { default as Comments } from "./Comments.svelte";
