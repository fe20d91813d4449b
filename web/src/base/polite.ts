/**
 * Looks for news politely: when the tab comes back into view and about once a minute while it is seen,
 * more and more rarely while the server does not answer. A live connection can take its place.
 */

const EVERY_MS = 60_000;
const RESTING_MS = 30_000;
const SLOWEST_MS = 16 * 60_000;
/** Tabs opened together drift apart by up to this share, so that a site's readers do not all ask in one second. */
const DRIFT = 0.2;

/** How long to wait after `failures` failed looks in a row. */
export function waitAfter(failures: number): number {
  return Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS);
}

/** Calls `look` at good moments until the returned function is called. `look` says whether it got an answer. */
export function keepLooking(look: () => Promise<boolean>): () => void {
  let failures = 0;
  let lastLook_ms = Date.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  async function attempt(): Promise<void> {
    clearTimeout(timer);
    if (document.visibilityState === "visible") {
      lastLook_ms = Date.now();
      failures = (await look()) ? 0 : failures + 1;
    }
    schedule();
  }
  function schedule(): void {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(attempt, waitAfter(failures) * (1 + DRIFT * Math.random()));
  }
  function onVisible(): void {
    if (document.visibilityState === "visible" && Date.now() - lastLook_ms > RESTING_MS) void attempt();
  }

  document.addEventListener("visibilitychange", onVisible);
  addEventListener("focus", onVisible);
  schedule();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisible);
    removeEventListener("focus", onVisible);
  };
}
