/** The feed's measured row heights, so that returning to it restores the same scroll position. */
import type { WindowVirtualizerHandle } from "virtua/svelte";

/** Opaque; only the virtualiser reads it. */
export type CacheSnapshot = ReturnType<WindowVirtualizerHandle["getCache"]>;

interface SavedHeights {
  readonly cache: CacheSnapshot;
  readonly length: number;
}

let saved: SavedHeights | null = null;

export function saveHeights(cache: CacheSnapshot, length: number): void {
  saved = { cache, length };
}

/** The heights as a prop of the virtualiser, if they were measured for a feed of this length. */
export function loadHeights(length: number): { cache?: CacheSnapshot } {
  return saved?.length === length ? { cache: saved.cache } : {};
}
