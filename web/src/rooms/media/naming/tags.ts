/** People in a picture, at fractions of its width and height; pure. */
import type { PersonTag } from "../upload.svelte";

function within(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}

/** With this person in it, once. */
export function withTag(tags: readonly PersonTag[], tag: PersonTag): readonly PersonTag[] {
  const others = tags.filter(({ user_id }) => user_id !== tag.user_id);
  return [...others, { ...tag, x: within(tag.x), y: within(tag.y) }];
}

/** The same people, one of them elsewhere. */
export function moved(
  tags: readonly PersonTag[],
  userId: string,
  x: number,
  y: number,
): readonly PersonTag[] {
  return tags.map((tag) => (tag.user_id === userId ? { ...tag, x: within(x), y: within(y) } : tag));
}

/** The same people but one. */
export function without(tags: readonly PersonTag[], userId: string): readonly PersonTag[] {
  return tags.filter(({ user_id }) => user_id !== userId);
}
