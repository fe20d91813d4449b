/** Looks: the preview of edits in the browser. */
export { amounts, type Crop, type Edit, isPlain, type Look, PLAIN } from "./edit";
export { fold, SIZE } from "./fold";
export { type Frame, frame } from "./geometry";
export type { Photo } from "./painter";
export { createPreview, type Preview } from "./preview";
export { loadStrip, readStrip } from "./strip";
