/** API responses kept on this device for reading offline: bounded in number, and cleared when their owner signs out. */
import { type Keyed, type ObjectStore, openObjectStore } from "../base/indexedDb";

interface CachedResponse extends Keyed {
  readonly accountId: string;
  readonly value: unknown;
  readonly at_ms: number;
  /** The version of the API's shapes that the value has; entries of older versions are ignored and deleted. */
  readonly format?: number;
}

/** Raised when responses change their shape. 2: people's ids are `account_id`, their relation is `relation`. */
const FORMAT = 2;

const MAX_ENTRIES = 400;
/** Eviction reads every entry, so it runs only once per this many writes. */
const EVICT_EVERY = 50;

export class OfflineCache {
  readonly #store: ObjectStore<CachedResponse>;
  #accountId: string | null = null;
  /** Values stored before the account is known: the feed often loads first. Null afterwards. */
  #unowned: Map<string, unknown> | null = new Map();
  #writes = 0;
  /** Whether the device still belongs to the account: another tab may have signed in as somebody else. */
  readonly #isOwner: (accountId: string) => Promise<boolean>;

  constructor(
    store: ObjectStore<CachedResponse> = openObjectStore<CachedResponse>("seen"),
    isOwner: (accountId: string) => Promise<boolean> = async () => true,
  ) {
    this.#store = store;
    this.#isOwner = isOwner;
  }

  /** Sets whose cache this is, and deletes what belongs to other accounts. */
  async setOwner(accountId: string): Promise<void> {
    this.#accountId = accountId;
    const all = await this.#store.all();
    await this.#store.remove(
      ...all
        .filter((entry) => entry.accountId !== accountId || entry.format !== FORMAT)
        .map(({ key }) => key),
    );
    const unowned = this.#unowned ?? [];
    this.#unowned = null;
    // Not through `put`: while the owner is being set, the device does not know it yet.
    for (const [key, value] of unowned) await this.#write(accountId, key, value);
  }

  async put(key: string, value: unknown): Promise<void> {
    const accountId = this.#accountId;
    if (accountId === null) return void this.#unowned?.set(key, value);
    if (!(await this.#isOwner(accountId)) || this.#accountId !== accountId) return;
    await this.#write(accountId, key, value);
  }

  async #write(accountId: string, key: string, value: unknown): Promise<void> {
    await this.#store.put({ key, value, accountId, at_ms: Date.now(), format: FORMAT });
    this.#writes += 1;
    if (this.#writes % EVICT_EVERY === 0) await this.#evict();
  }

  /** The value, if it is the owner's. Before the owner is known (the server is unreachable), that of the last one. */
  async get<T>(key: string): Promise<T | null> {
    const entry = await this.#store.get(key);
    const isOwn = this.#accountId === null ? this.#unowned !== null : entry?.accountId === this.#accountId;
    return isOwn && entry?.format === FORMAT ? (entry.value as T) : null;
  }

  /** Deletes the values that are chosen, also those that wait for their owner. */
  async remove(isChosen: (key: string, value: unknown) => boolean): Promise<void> {
    for (const [key, value] of this.#unowned ?? []) if (isChosen(key, value)) this.#unowned?.delete(key);
    const chosen = (await this.#store.all()).filter(({ key, value }) => isChosen(key, value));
    await this.#store.remove(...chosen.map(({ key }) => key));
  }

  async clear(): Promise<void> {
    this.#accountId = null;
    this.#unowned = null;
    await this.#store.clear();
  }

  /** Deletes the oldest entries beyond the limit. */
  async #evict(): Promise<void> {
    const all = (await this.#store.all()).sort((a, b) => b.at_ms - a.at_ms);
    await this.#store.remove(...all.slice(MAX_ENTRIES).map(({ key }) => key));
  }
}
