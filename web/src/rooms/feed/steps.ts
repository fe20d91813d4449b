/** Which article the next step leads to; pure. */

export interface Step {
  /** The article stepped to last, or -1. */
  readonly current: number;
  /** The article at the top of the screen. */
  readonly top: number;
  readonly by: 1 | -1;
  readonly length: number;
  readonly isAtStart: boolean;
}

/** From the article in hand when it is near the screen, otherwise from what is at the top of it. */
export function stepFrom({ current, top, by, length, isAtStart }: Step): number {
  if (isAtStart && by === 1 && current < 0) return 0;
  const from = current >= 0 && Math.abs(current - top) <= 2 ? current : top;
  return Math.max(0, Math.min(length - 1, from + by));
}
