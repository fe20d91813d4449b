/** Detects double taps: two in the same place within 300 ms, by touch or mouse. */

export const DOUBLE_TAP_MS = 300;
const MAX_PX = 40;

interface Tap {
  readonly at_ms: number;
  readonly x: number;
  readonly y: number;
}

/** Returns a function to call with every tap; it returns true for the one that completes a pair. */
export function createDoubleTap(): (tap: Tap) => boolean {
  let last: Tap | null = null;
  return (tap) => {
    const isPair =
      last !== null &&
      tap.at_ms - last.at_ms <= DOUBLE_TAP_MS &&
      Math.hypot(tap.x - last.x, tap.y - last.y) <= MAX_PX;
    last = isPair ? null : tap;
    return isPair;
  };
}
