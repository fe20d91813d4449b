/** Exponential backoff with jitter: how long to wait before the next attempt. */

export interface RetrySpan {
  /** The delay after the first failure, before jitter. */
  readonly first_ms: number;
  readonly max_ms: number;
}

/** The delay after `failures` failed attempts in a row: between half and all of it, so that clients do not return together. */
export function retryDelay(failures: number, { first_ms, max_ms }: RetrySpan): number {
  const full_ms = Math.min(first_ms * 2 ** Math.max(0, failures - 1), max_ms);
  return full_ms * (0.5 + Math.random() / 2);
}
