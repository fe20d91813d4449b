/** A list that arrives page by page: its items once each, whether there are more, and what went wrong. */

import { untrack } from "svelte";

export interface PageOf<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

type Fetch<Item> = (cursor: string | null) => Promise<PageOf<Item>>;

export class Pages<Item> {
  /** Null until the first page is there. */
  items = $state.raw<readonly Item[] | null>(null);
  hasMore = $state.raw(true);
  isLoading = $state.raw(false);
  failure = $state.raw<unknown>(null);
  #cursor: string | null = null;
  /** Raised by every fresh start: a late answer to an earlier one is dropped. */
  #life = 0;
  readonly #fetch: Fetch<Item>;
  readonly #keyOf: (item: Item) => string;

  constructor(fetch: Fetch<Item>, keyOf: (item: Item) => string) {
    this.#fetch = fetch;
    this.#keyOf = keyOf;
  }

  /** The first page came with something else. */
  begin(page: PageOf<Item>): void {
    this.#life += 1;
    this.items = null;
    this.#add(page);
    this.isLoading = false;
  }

  /** The next page is there, or `failure` says why not. An effect may ask for it: it does not come to depend on the list. */
  more(): Promise<void> {
    return untrack(() => this.#more());
  }

  async #more(): Promise<void> {
    if (this.isLoading || !this.hasMore) return;
    const life = this.#life;
    this.isLoading = true;
    this.failure = null;
    try {
      const page = await this.#fetch(this.#cursor);
      if (life === this.#life) this.#add(page);
    } catch (error) {
      if (life === this.#life) this.failure = error;
    } finally {
      if (life === this.#life) this.isLoading = false;
    }
  }

  /** From the beginning; what is shown stays until the answer is there. */
  async again(): Promise<void> {
    const life = ++this.#life;
    this.isLoading = true;
    this.failure = null;
    try {
      const page = await this.#fetch(null);
      if (life === this.#life) this.begin(page);
    } catch (error) {
      if (life !== this.#life) return;
      this.failure = error;
      this.isLoading = false;
    }
  }

  remove(key: string): void {
    this.items = this.items?.filter((item) => this.#keyOf(item) !== key) ?? null;
  }

  /** Nobody waits any more. */
  leave(): void {
    this.#life += 1;
  }

  /** Pages may overlap when something arrives between them. */
  #add({ items, next }: PageOf<Item>): void {
    const known = new Set(this.items?.map(this.#keyOf));
    this.items = [...(this.items ?? []), ...items.filter((item) => !known.has(this.#keyOf(item)))];
    this.#cursor = next;
    this.hasMore = next !== null;
  }
}
