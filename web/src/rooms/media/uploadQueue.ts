/** Limits concurrent work to two: more uploads would only share the same bandwidth. */

const MAX_CONCURRENT = 2;

export class UploadQueue {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** Does the work when it is its turn; resolves and rejects with it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < MAX_CONCURRENT) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next)
        next(); // It takes over this turn.
      else this.#running -= 1;
    }
  }
}
