/** A cursor-paginated list: its items without duplicates, whether there are more, and the last error. */

import { untrack } from "svelte";

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** The cursor of the next page as the API states it, or null on the last page. */
export function nextCursor(page: {
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}): string | null {
  return page.has_more ? page.next_cursor : null;
}

type FetchPage<Item> = (cursor: string | null) => Promise<ListPage<Item>>;

export class PagedList<Item> {
  /** Null until the first page has loaded. */
  items = $state.raw<readonly Item[] | null>(null);
  hasMore = $state.raw(true);
  isLoading = $state.raw(false);
  failure = $state.raw<unknown>(null);
  #cursor: string | null = null;
  /** Incremented by every restart, so that late responses to earlier requests are ignored. */
  #generation = 0;
  readonly #fetch: FetchPage<Item>;
  readonly #keyOf: (item: Item) => string;

  constructor(fetch: FetchPage<Item>, keyOf: (item: Item) => string) {
    this.#fetch = fetch;
    this.#keyOf = keyOf;
  }

  /** Starts from a first page that came with another response. */
  start(page: ListPage<Item>): void {
    this.#generation += 1;
    this.items = null;
    this.#append(page);
    this.isLoading = false;
  }

  /** Loads the next page, or sets `failure`. Untracked: an effect that calls this does not depend on the list. */
  loadMore(): Promise<void> {
    return untrack(() => this.#loadMore());
  }

  /** For `$effect`: loads the first page; the returned cleanup ignores responses that arrive after unmounting. */
  mount(): () => void {
    void this.loadMore();
    return () => this.cancel();
  }

  async #loadMore(): Promise<void> {
    if (this.isLoading || !this.hasMore) return;
    await this.#load(this.#cursor, (page) => this.#append(page));
  }

  /** Loads the list from its first page; the present items stay until the response is there. */
  async reload(): Promise<void> {
    this.#generation += 1;
    await this.#load(null, (page) => this.start(page));
  }

  remove(key: string): void {
    this.items = this.items?.filter((item) => this.#keyOf(item) !== key) ?? null;
  }

  /** Ignores the responses of requests in flight. */
  cancel(): void {
    this.#generation += 1;
  }

  async #load(cursor: string | null, apply: (page: ListPage<Item>) => void): Promise<void> {
    const generation = this.#generation;
    this.isLoading = true;
    this.failure = null;
    try {
      const page = await this.#fetch(cursor);
      if (generation !== this.#generation) return;
      apply(page);
      this.isLoading = false;
    } catch (error) {
      if (generation !== this.#generation) return;
      this.failure = error;
      this.isLoading = false;
    }
  }

  /** Pages may overlap when items are added between requests. */
  #append({ items, next }: ListPage<Item>): void {
    const known = new Set(this.items?.map(this.#keyOf));
    this.items = [...(this.items ?? []), ...items.filter((item) => !known.has(this.#keyOf(item)))];
    this.#cursor = next;
    this.hasMore = next !== null;
  }
}
