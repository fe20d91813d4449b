/** Posts as walls. A door of its own: the first screen enters the room without it. */
export { captionPieces } from "../pieces";
export { default as TileWall } from "./TileWall.svelte";
export { type Tile, tileOf } from "./tiles";
export { default as WallSkeleton } from "./WallSkeleton.svelte";
