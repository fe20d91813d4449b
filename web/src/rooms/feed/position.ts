/** Where the reader was in the feed, so that coming back finds the same rows at the same heights. */
import type { WindowVirtualizerHandle } from "virtua/svelte";

/** Opaque: the virtualiser reads back what it wrote. */
export type CacheSnapshot = ReturnType<WindowVirtualizerHandle["getCache"]>;

interface Kept {
  readonly cache: CacheSnapshot;
  readonly length: number;
}

let kept: Kept | null = null;

export function keepPosition(cache: CacheSnapshot, length: number): void {
  kept = { cache, length };
}

/** The measured heights as the virtualiser's property, when they still belong to a feed of this length. */
export function findPosition(length: number): { cache?: CacheSnapshot } {
  return kept?.length === length ? { cache: kept.cache } : {};
}
