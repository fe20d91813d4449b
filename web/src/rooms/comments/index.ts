/** The comments room: what people say under posts. */
export { default as Comments } from "./Comments.svelte";
