/** The media room: pictures on their way in. */
export { default as DropZone } from "./DropZone.svelte";
export { Line } from "./line";
export { default as Preview } from "./Preview.svelte";
export { default as Progress } from "./Progress.svelte";
export { Upload } from "./upload.svelte";
