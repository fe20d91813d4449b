/** Autocomplete results for what is being typed: debounced, the latest request wins. */
import { DebouncedRequest } from "../../base/debouncedRequest";

const DEBOUNCE_MS = 180;

export class Autocomplete<Result> {
  results = $state.raw<readonly Result[]>([]);
  /** The query that `results` belongs to; empty when there was none. */
  answeredQuery = $state.raw("");
  readonly #fetch: (query: string, signal: AbortSignal) => Promise<readonly Result[]>;
  readonly #request = new DebouncedRequest();

  constructor(fetch: (query: string, signal: AbortSignal) => Promise<readonly Result[]>) {
    this.#fetch = fetch;
  }

  search(text: string): void {
    const query = text.trim();
    if (query === "") this.clear();
    else this.#request.schedule(DEBOUNCE_MS, (signal) => this.#search(query, signal));
  }

  clear(): void {
    this.#request.cancel();
    this.results = [];
    this.answeredQuery = "";
  }

  async #search(query: string, signal: AbortSignal): Promise<void> {
    try {
      const results = await this.#fetch(query, signal);
      if (signal.aborted) return;
      this.results = results;
      this.answeredQuery = query;
    } catch {
      if (!signal.aborted) this.results = []; // Suggestions are best effort: typing goes on without them.
    }
  }
}
