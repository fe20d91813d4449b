/**
 * Postpones work until the first screen is painted. The unread badge, the offline queue and the service worker start then:
 * on a slow connection they would otherwise compete with the first image for bandwidth and delay it.
 */

/** How long after the load event the first image may still be missing before deferred work starts anyway. */
const TIMEOUT_MS = 3_000;

let resolve: () => void = () => {};
export const firstPaint: Promise<void> = new Promise((done) => {
  resolve = done;
});

/** The first image has loaded, failed, or there is none: deferred work starts as soon as the browser is idle. */
export function markFirstPaint(): void {
  whenIdle(resolve);
}

/** Runs the work when the browser is idle, after 300 ms at the latest. Returns a function that cancels it. */
export function whenIdle(work: () => void): () => void {
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(work, 50);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 300 });
  return () => cancelIdleCallback(handle);
}

/** Guarantees that `firstPaint` resolves, even on pages that never call `markFirstPaint`. */
export function watchFirstPaint(isImageExpected: boolean): void {
  const mark = () => (isImageExpected ? void setTimeout(markFirstPaint, TIMEOUT_MS) : markFirstPaint());
  // From the service worker's cache everything may have loaded before the app is mounted.
  if (document.readyState === "complete") mark();
  else addEventListener("load", mark);
}
