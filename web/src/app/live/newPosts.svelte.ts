/** The feed's offer of new posts. */
import { untrack } from "svelte";
import { startPolling } from "../../base/poller";
import { router } from "../../base/router";
import { live } from "../../live";
import { feed } from "../../rooms/feed";
import { throttled } from "./throttled";

/** A post of somebody with many followers hints to all of them in the same moment: they do not ask in the same one. */
const SPREAD_MS = 1_500;
/** However many posts there are, the feed is asked for no more often than this. */
const PAUSE_MS = 10_000;

const isShown = () => router.path === "/" && document.visibilityState === "visible";

/** For `$effect`: offers new posts as soon as the feed is shown; returns the function that ends it. */
export function offerNewPosts(): () => void {
  let isStale = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = throttled(() => {
    isStale = !isShown();
    if (!isStale) void feed.checkForNew();
  }, PAUSE_MS);
  const spread = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      check.call();
    }, Math.random() * SPREAD_MS);
  };
  const onShown = () => {
    if (isStale && isShown()) check.call();
  };
  $effect(() => {
    if (router.path === "/") untrack(onShown);
  });
  document.addEventListener("visibilitychange", onShown);
  // Also while online: hints tell of what is new, not of what one may no longer see.
  const stopPolling = startPolling(() => (isShown() ? feed.checkForNew() : Promise.resolve(true)));
  const ends = [live.onSignal("feed", spread), live.onReset(spread), stopPolling, check.cancel];
  return () => {
    for (const end of ends) end();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onShown);
  };
}
