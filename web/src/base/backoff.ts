/** Waiting between attempts: longer each time, and no longer once the connection is back, the page is shown again or somebody asks. */

const FIRST_MS = 3_000;
const MAX_MS = 2 * 60_000;

const waiting = new Set<() => void>();

/** Ends every wait now. */
export function retryNow(): void {
  for (const proceed of [...waiting]) proceed();
}

export class Backoff {
  #attempts = 0;

  /** Resolves when it is time for the next attempt, or when the signal is aborted. */
  wait(signal: AbortSignal, min_ms = 0): Promise<void> {
    const delay_ms = Math.max(min_ms, Math.min(FIRST_MS * 2 ** this.#attempts, MAX_MS));
    this.#attempts += 1;
    return new Promise((resolve) => {
      const proceed = (): void => {
        clearTimeout(timer);
        waiting.delete(proceed);
        signal.removeEventListener("abort", proceed);
        resolve();
      };
      const timer = setTimeout(proceed, delay_ms);
      waiting.add(proceed);
      signal.addEventListener("abort", proceed);
    });
  }
}

addEventListener("online", retryNow);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") retryNow();
});
