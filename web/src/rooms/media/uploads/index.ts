/** Uploads without anything to show them: what publishing in the background needs. */
export { PLAIN } from "../looks/edit";
export { type SavedUpload, Upload } from "../upload.svelte";
export { UploadQueue } from "../uploadQueue";
