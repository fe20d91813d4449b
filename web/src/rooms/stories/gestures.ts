/** Interprets touches on a story: a tap on either side, a hold, a swipe. Pure. */

export type Gesture = "previous" | "next" | "previousPerson" | "nextPerson" | "close" | "none";

export interface Touch {
  readonly x: number;
  readonly y: number;
  readonly at_ms: number;
}

const HELD_MS = 250;
const SWIPE_PX = 50;
/** Taps on the leading third go back. */
const BACK_SHARE = 0.33;

export function readGesture(
  from: Touch,
  to: Touch,
  box: { left: number; width: number },
  isRtl: boolean,
): Gesture {
  const across = (to.x - from.x) * (isRtl ? -1 : 1);
  const down = to.y - from.y;
  if (down > SWIPE_PX * 1.5 && down > Math.abs(across)) return "close";
  if (Math.abs(across) > SWIPE_PX) return across < 0 ? "nextPerson" : "previousPerson";
  if (to.at_ms - from.at_ms > HELD_MS) return "none"; // Held to look at it longer.
  const share = (to.x - box.left) / box.width;
  return (isRtl ? 1 - share : share) < BACK_SHARE ? "previous" : "next";
}
