/**
 * Polls the server: when the tab becomes visible again and at an interval while it is, with exponential backoff while requests
 * fail.
 */

export const INTERVAL_MS = 60_000;
/** A tab that becomes visible polls at once unless it polled more recently than this share of the interval. */
const MIN_PAUSE = 0.5;
const MAX_INTERVAL_MS = 16 * 60_000;
/** Each delay is lengthened by up to this share, so that tabs opened together do not poll in the same second. */
const JITTER = 0.2;

/** The delay after `failures` failed polls in a row, before jitter. */
export function pollDelay(failures: number, interval_ms = INTERVAL_MS): number {
  return Math.min(interval_ms * 2 ** failures, MAX_INTERVAL_MS);
}

/** Calls `poll` periodically until the returned function is called. `poll` resolves to whether the server answered. */
export function startPolling(poll: () => Promise<boolean>, interval_ms = INTERVAL_MS): () => void {
  let failures = 0;
  let lastPoll_ms = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function attempt(): Promise<void> {
    clearTimeout(timer);
    if (document.visibilityState === "visible") {
      lastPoll_ms = Date.now();
      failures = (await poll()) ? 0 : failures + 1;
    }
    schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    if (!isStopped)
      timer = setTimeout(attempt, pollDelay(failures, interval_ms) * (1 + JITTER * Math.random()));
  }
  function onVisible(): void {
    if (document.visibilityState === "visible" && Date.now() - lastPoll_ms > MIN_PAUSE * interval_ms)
      void attempt();
  }

  document.addEventListener("visibilitychange", onVisible);
  addEventListener("focus", onVisible);
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisible);
    removeEventListener("focus", onVisible);
  };
}
