/** Lets two uploads run at a time: more would only share the same narrow way out of a phone. */

const AT_ONCE = 2;

export class Line {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  add(work: () => Promise<void>): void {
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    if (this.#running >= AT_ONCE) return;
    const work = this.#waiting.shift();
    if (work === undefined) return;
    this.#running += 1;
    void work().finally(() => {
      this.#running -= 1;
      this.#next();
    });
  }
}
