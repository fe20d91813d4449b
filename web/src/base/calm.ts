/**
 * When the first screen is there. What nobody waits for (the badge, the queue, the worker that keeps the app) begins then:
 * on a slow line it would otherwise travel beside the first picture and make it late.
 */

/** A page that never says so is taken to be there. */
const PATIENCE_MS = 3_000;

let resolve: () => void = () => {};
export const calm: Promise<void> = new Promise((done) => {
  resolve = done;
});

/** The first picture hangs, or there is none to wait for. */
export function becomeCalm(): void {
  whenQuiet(resolve);
}

/** Runs the work when the screen has nothing else to do, soon in any case; returns how to call it off. */
export function whenQuiet(work: () => void): () => void {
  if (!("requestIdleCallback" in globalThis)) {
    const timer = setTimeout(work, 50);
    return () => clearTimeout(timer);
  }
  const wish = requestIdleCallback(work, { timeout: 300 });
  return () => cancelIdleCallback(wish);
}

/** Sooner or later it is calm, whatever happens. */
export function expectCalm(isPictureExpected: boolean): void {
  if (isPictureExpected) addEventListener("load", () => setTimeout(becomeCalm, PATIENCE_MS));
  else if (document.readyState === "complete") becomeCalm();
  else addEventListener("load", becomeCalm);
}
