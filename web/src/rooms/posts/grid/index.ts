/** Post grids, exported apart from the room's `index.ts` because the first screen does not need them. */
export { default as LinkedText } from "../LinkedText.svelte";
export { default as PagedPostGrid } from "./PagedPostGrid.svelte";
export { default as PostGrid } from "./PostGrid.svelte";
export { default as PostGridSkeleton } from "./PostGridSkeleton.svelte";
export { createTileList, type Tile, tileOf } from "./tiles";
