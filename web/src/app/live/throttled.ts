/** Calls that come in bursts. */

export interface Throttled {
  /** Runs the work now, or at the end of the pause since it ran last. */
  readonly call: () => void;
  readonly cancel: () => void;
}

/** Work that runs at most once per pause, and once more where it was asked for in between. */
export function throttled(work: () => void, pause_ms: number): Throttled {
  let isPaused = false;
  let isWanted = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function call(): void {
    if (isPaused) {
      isWanted = true;
      return;
    }
    isPaused = true;
    timer = setTimeout(end, pause_ms);
    work();
  }
  function end(): void {
    isPaused = false;
    if (!isWanted) return;
    isWanted = false;
    call();
  }
  return { call, cancel: () => clearTimeout(timer) };
}
