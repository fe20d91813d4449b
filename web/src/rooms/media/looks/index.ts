/** Previews of photo edits in the browser, with WebGL. */
export { amounts, type Crop, type Edit, isPlain, type Look, PLAIN } from "./edit";
export { fold, SIZE } from "./fold";
export { type Frame, frame } from "./geometry";
export { loadStrip, readStrip } from "./lutStrip";
export { createPreview, type Preview } from "./preview";
export type { Photo } from "./webglRenderer";
