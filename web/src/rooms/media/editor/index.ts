/** Tools that edit a photo, for the editor of one photo and for the composer. */
export { decodePhoto } from "../decodePhoto";
export { editRenderer } from "../editRenderer";
export { default as AdjustPanel } from "./AdjustPanel.svelte";
export { default as CropFrame } from "./CropFrame.svelte";
export { default as CropPanel } from "./CropPanel.svelte";
export { WHOLE } from "./crop";
export { EditSession } from "./editSession.svelte";
export { default as LooksPanel } from "./LooksPanel.svelte";
export { default as Tabs } from "./Tabs.svelte";
