/** The media room: uploading and editing photos and videos. */
export { default as DropZone } from "./DropZone.svelte";
export { type Edit, isPlain, PLAIN } from "./looks/edit";
export { default as UploadPreview } from "./UploadPreview.svelte";
export { default as UploadProgress } from "./UploadProgress.svelte";
export { type PersonTag, type SavedUpload, Upload } from "./upload.svelte";
export { UploadQueue } from "./uploadQueue";

/** The editor and its shaders load on first use. */
export const loadEditor = () => import("./editor/Editor.svelte");
