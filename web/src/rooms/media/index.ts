/** The media room: uploading and editing photos and videos. */
export { default as DropZone } from "./DropZone.svelte";
export { type Edit, isPlain, PLAIN } from "./looks/edit";
export { default as PicturePreview } from "./PicturePreview.svelte";
export { allowShrinking, mayShrink } from "./shrink";
export { default as UploadProgress } from "./UploadProgress.svelte";
export { type PersonTag, Upload } from "./upload.svelte";

/** The editor and its shaders load on first use. */
export const loadEditor = () => import("./editor/Editor.svelte");
