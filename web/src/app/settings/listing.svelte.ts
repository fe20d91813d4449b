/** A short list that is loaded whole, and loaded again after each change. */

export class Listing<Row> {
  rows = $state.raw<readonly Row[] | null>(null);
  failure = $state.raw<unknown>(null);
  readonly #load: () => Promise<readonly Row[]>;

  constructor(load: () => Promise<readonly Row[]>) {
    this.#load = load;
    void this.load();
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      this.rows = await this.#load();
    } catch (error) {
      this.failure = error;
    }
  }
}
