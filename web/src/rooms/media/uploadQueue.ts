/** Limits concurrent uploads to two: more would only share the same bandwidth. */

const MAX_CONCURRENT = 2;

export class UploadQueue {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    if (this.#running >= MAX_CONCURRENT) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    this.#running += 1;
    void work().finally(() => {
      this.#running -= 1;
      this.#next();
    });
  }
}
