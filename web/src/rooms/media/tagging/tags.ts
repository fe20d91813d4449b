/** Lists of people tags; x and y are fractions of the width and height. Pure. */
import type { PersonTag } from "../upload.svelte";

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}

/** Adds a tag, replacing one of the same person. */
export function addTag(tags: readonly PersonTag[], tag: PersonTag): readonly PersonTag[] {
  const others = tags.filter(({ account_id }) => account_id !== tag.account_id);
  return [...others, { ...tag, x: clamp(tag.x), y: clamp(tag.y) }];
}

/** Moves one tag. */
export function moveTag(
  tags: readonly PersonTag[],
  accountId: string,
  x: number,
  y: number,
): readonly PersonTag[] {
  return tags.map((tag) => (tag.account_id === accountId ? { ...tag, x: clamp(x), y: clamp(y) } : tag));
}

/** Removes one tag. */
export function removeTag(tags: readonly PersonTag[], accountId: string): readonly PersonTag[] {
  return tags.filter(({ account_id }) => account_id !== accountId);
}
