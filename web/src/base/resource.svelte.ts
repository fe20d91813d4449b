/** A value loaded from the server: null until it is there, with the error of the last attempt. */
export class Resource<Value> {
  value = $state.raw<Value | null>(null);
  failure = $state.raw<unknown>(null);
  readonly #fetch: () => Promise<Value>;

  constructor(fetch: () => Promise<Value>) {
    this.#fetch = fetch;
  }

  /** Loads or reloads the value, or sets `failure`; a value that is there stays until the new one arrives. */
  async load(): Promise<void> {
    this.failure = null;
    try {
      this.value = await this.#fetch();
    } catch (error) {
      this.failure = error;
    }
  }
}
