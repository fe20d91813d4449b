/**
 * Drains a persistent queue: one run at a time in all tabs of this browser, once more where somebody asked meanwhile, and
 * again after a growing delay where something is left.
 */
import { retryDelay } from "./retryDelay";

export interface DrainerDependencies {
  /** Sends what there is; resolves to false where something has to be tried again later. */
  readonly sendAll: () => Promise<boolean>;
  /** Runs the work while holding a lock across all tabs. */
  readonly withLock: (work: () => Promise<void>) => Promise<void>;
  /** Calls back after a delay, in place of an earlier one. */
  readonly schedule: (delay_ms: number, then: () => void) => void;
  readonly onRunning?: (isRunning: boolean) => void;
}

/** After this many errors of the server something queued counts as refused: it would hold up everything behind it. */
export const MAX_SERVER_ERRORS = 12;

const RETRY = { first_ms: 4_000, max_ms: 5 * 60_000 };

export class Drainer {
  readonly #deps: DrainerDependencies;
  #again = false;
  #running: Promise<void> | null = null;
  #failures = 0;

  constructor(deps: DrainerDependencies) {
    this.#deps = deps;
  }

  /** Sends everything; resolves when it was tried, and not only when it has succeeded. */
  drain(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Something was accepted: the next delay is a short one. */
  resetBackoff(): void {
    this.#failures = 0;
  }

  async #run(): Promise<void> {
    this.#deps.onRunning?.(true);
    try {
      while (this.#again) {
        this.#again = false;
        await this.#deps.withLock(() => this.#sendAll());
      }
    } finally {
      this.#running = null;
      this.#deps.onRunning?.(false);
    }
  }

  async #sendAll(): Promise<void> {
    if (await this.#deps.sendAll()) return this.resetBackoff();
    this.#failures += 1;
    this.#deps.schedule(retryDelay(this.#failures, RETRY), () => void this.drain());
  }
}
