/**
 * Drawers that survive a reload: a few object stores of IndexedDB, each keyed by its values' own `key`.
 * Where the browser allows no storage a drawer in memory takes its place: the app then forgets, and works.
 */

export interface Keyed {
  readonly key: string;
}

export interface Drawer<T extends Keyed> {
  get(key: string): Promise<T | null>;
  all(): Promise<T[]>;
  put(value: T): Promise<void>;
  remove(...keys: string[]): Promise<void>;
  /** Reads, then puts what `decide` gives, removes on null, leaves on undefined: one step, across all tabs. */
  change(key: string, decide: (value: T) => T | null | undefined): Promise<void>;
  clear(): Promise<void>;
}

const DRAWERS = ["queue", "seen", "pictures"] as const;
export type DrawerName = (typeof DRAWERS)[number];

export function openDrawer<T extends Keyed>(name: DrawerName): Drawer<T> {
  return "indexedDB" in globalThis ? new StoredDrawer<T>(name) : new MemoryDrawer<T>();
}

let opened: Promise<IDBDatabase> | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("tintype", 1);
    request.onupgradeneeded = () => {
      for (const name of DRAWERS) request.result.createObjectStore(name, { keyPath: "key" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

class StoredDrawer<T extends Keyed> implements Drawer<T> {
  readonly #name: DrawerName;
  /** Storage that turns out to be forbidden or broken. */
  readonly #spare = new MemoryDrawer<T>();

  constructor(name: DrawerName) {
    this.#name = name;
  }

  get(key: string): Promise<T | null> {
    return this.#try(
      async () => (await answer<T | undefined>((await this.#open("readonly")).get(key))) ?? null,
      () => this.#spare.get(key),
    );
  }

  all(): Promise<T[]> {
    return this.#try(
      async () => answer<T[]>((await this.#open("readonly")).getAll()),
      () => this.#spare.all(),
    );
  }

  put(value: T): Promise<void> {
    return this.#try(
      async () => void (await answer((await this.#open("readwrite")).put(value))),
      () => this.#spare.put(value),
    );
  }

  remove(...keys: string[]): Promise<void> {
    return this.#try(
      async () => {
        const store = await this.#open("readwrite");
        await Promise.all(keys.map((key) => answer(store.delete(key))));
      },
      () => this.#spare.remove(...keys),
    );
  }

  change(key: string, decide: (value: T) => T | null | undefined): Promise<void> {
    return this.#try(
      async () => {
        const store = await this.#open("readwrite");
        const value = await answer<T | undefined>(store.get(key));
        const next = value === undefined ? undefined : decide(value);
        if (next === undefined) return;
        if (next === null) await answer(store.delete(key));
        else await answer(store.put(next));
      },
      () => this.#spare.change(key, decide),
    );
  }

  clear(): Promise<void> {
    return this.#try(
      async () => void (await answer((await this.#open("readwrite")).clear())),
      () => this.#spare.clear(),
    );
  }

  async #open(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    return (await database()).transaction(this.#name, mode).objectStore(this.#name);
  }

  async #try<R>(stored: () => Promise<R>, spare: () => Promise<R>): Promise<R> {
    try {
      return await stored();
    } catch {
      return spare();
    }
  }
}

export class MemoryDrawer<T extends Keyed> implements Drawer<T> {
  readonly #values = new Map<string, T>();

  async get(key: string): Promise<T | null> {
    return this.#values.get(key) ?? null;
  }

  async all(): Promise<T[]> {
    return [...this.#values.values()];
  }

  async put(value: T): Promise<void> {
    this.#values.set(value.key, value);
  }

  async remove(...keys: string[]): Promise<void> {
    for (const key of keys) this.#values.delete(key);
  }

  async change(key: string, decide: (value: T) => T | null | undefined): Promise<void> {
    const value = this.#values.get(key);
    const next = value === undefined ? undefined : decide(value);
    if (next === null) this.#values.delete(key);
    else if (next !== undefined) this.#values.set(key, next);
  }

  async clear(): Promise<void> {
    this.#values.clear();
  }
}
