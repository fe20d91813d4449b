/** Moving between the articles of the feed by keyboard; pure. */

export interface Step {
  /** The article focused last, or -1. */
  readonly current: number;
  /** The article at the top of the screen. */
  readonly top: number;
  readonly by: 1 | -1;
  readonly length: number;
  readonly isAtStart: boolean;
}

/** The index to go to: from the focused article when it is near the viewport, otherwise from the one at its top. */
export function nextArticle({ current, top, by, length, isAtStart }: Step): number {
  if (isAtStart && by === 1 && current < 0) return 0;
  const from = current >= 0 && Math.abs(current - top) <= 2 ? current : top;
  return Math.max(0, Math.min(length - 1, from + by));
}
