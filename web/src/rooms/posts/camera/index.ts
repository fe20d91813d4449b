/** Camera, lens and exposure, shown on the page of a post. */
export { default as CameraDetails } from "./CameraDetails.svelte";
