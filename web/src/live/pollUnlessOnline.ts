/** Polling as the fallback of the live connection. */
import { INTERVAL_MS, startPolling } from "../base/poller";
import { live } from "./runtime";

/** Polls about this often for as long as there is no live connection. Returns the function that ends it. */
export function pollUnlessOnline(poll: () => Promise<boolean>, interval_ms = INTERVAL_MS): () => void {
  let stop: (() => void) | null = null;
  const unsubscribe = live.state.subscribe((state) => {
    if (state === "online") {
      stop?.();
      stop = null;
    } else stop ??= startPolling(poll, interval_ms);
  });
  return () => {
    unsubscribe();
    stop?.();
  };
}
