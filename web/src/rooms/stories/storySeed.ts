/** Elements that the next new story begins with: an answer to share, say. Taken once. */
import type { PlacedElement } from "./elements/types";

let seeds: readonly PlacedElement[] = [];

export function seedStory(elements: readonly PlacedElement[]): void {
  seeds = elements;
}

export function takeSeeds(): readonly PlacedElement[] {
  const taken = seeds;
  seeds = [];
  return taken;
}
