/** Locks across the tabs of this browser, and timers of which only the latest counts. */

/** Runs the work while no other tab does. Web Locks exist only over HTTPS: without them tabs may work at the same time. */
export async function withTabLock(name: string, work: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return work();
  await navigator.locks.request(name, work);
}

/** A timer that starts again whenever it is set. */
export function singleTimer(): (delay_ms: number, then: () => void) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (delay_ms, then) => {
    clearTimeout(timer);
    timer = setTimeout(then, delay_ms);
  };
}
