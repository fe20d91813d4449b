/**
 * Leader election between the tabs of a browser, by a Web Lock: the leader is the tab that holds it, and the next one takes
 * over when it closes. A phone may suspend a hidden tab without taking its lock away: then a visible one steals it.
 */

export interface Leadership {
  /** Takes the lock from a leader that does not answer. */
  steal(): void;
  /** Steps down, or stops waiting. */
  resign(): void;
}

/** Calls `lead` when this tab becomes the leader; `lead` returns what to do when it ceases to be. */
export function campaign(name: string, lead: () => () => void): Leadership {
  const abort = new AbortController();
  let step: (() => void) | null = null;

  function hold(): Promise<void> {
    const stepDown = lead();
    return new Promise<void>((resolve) => {
      step = () => {
        step = null;
        stepDown();
        resolve();
      };
    });
  }
  async function wait(options: LockOptions): Promise<void> {
    try {
      await navigator.locks.request(name, options, () => (abort.signal.aborted ? undefined : hold()));
    } catch {
      // Another tab has stolen the lock, or this one has stopped waiting.
      step?.();
      if (!abort.signal.aborted && !options.steal) void wait(options);
    }
  }
  void wait({ signal: abort.signal });
  return {
    steal: () => {
      if (step === null && !abort.signal.aborted) void wait({ steal: true });
    },
    resign: () => {
      abort.abort();
      step?.();
    },
  };
}
