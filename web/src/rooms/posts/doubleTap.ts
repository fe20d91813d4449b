/** Two taps in the same place within 300 ms, by finger or mouse; the first tap alone means nothing here. */

const WITHIN_MS = 300;
const WITHIN_PX = 40;

interface Tap {
  readonly at_ms: number;
  readonly x: number;
  readonly y: number;
}

/** Feed it every tap; it answers true for the one that completes a pair. */
export function createDoubleTap(): (tap: Tap) => boolean {
  let last: Tap | null = null;
  return (tap) => {
    const isPair =
      last !== null &&
      tap.at_ms - last.at_ms <= WITHIN_MS &&
      Math.hypot(tap.x - last.x, tap.y - last.y) <= WITHIN_PX;
    last = isPair ? null : tap;
    return isPair;
  };
}
