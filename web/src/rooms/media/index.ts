/** The media room: pictures on their way in, and what is done to them before they are shown. */
export { default as DropZone } from "./DropZone.svelte";
export { Line } from "./line";
export { type Edit, isPlain, PLAIN } from "./looks/edit";
export { default as Preview } from "./Preview.svelte";
export { default as Progress } from "./Progress.svelte";
export { type PersonTag, type SavedUpload, Upload } from "./upload.svelte";

/** The editor with its shaders arrives when somebody edits. */
export const loadEditor = () => import("./editor/Editor.svelte");
