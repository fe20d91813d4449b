/**
 * Persistent object stores in IndexedDB, each keyed by its values' own `key`. Where the browser blocks storage an in-memory
 * store takes its place: the app works, and starts empty after a reload.
 */

export interface Keyed {
  readonly key: string;
}

export interface ObjectStore<T extends Keyed> {
  get(key: string): Promise<T | null>;
  all(): Promise<T[]>;
  put(value: T): Promise<void>;
  remove(...keys: string[]): Promise<void>;
  /** Read-modify-write in one transaction, across all tabs: `decide` returns the new value, null to delete, undefined to leave it. */
  update(key: string, decide: (value: T) => T | null | undefined): Promise<void>;
  clear(): Promise<void>;
  /** False once something could not be stored: it is kept in memory, and gone after a reload. */
  readonly isPersistent: boolean;
}

/**
 * The object stores of each database. A database never gets further stores: a page of the previous release that is still open
 * would block the change, and with it everything stored. New ones go into a database of their own.
 */
const DATABASES = {
  tintype: ["queue", "seen", "pictures"],
  "tintype-drafts": ["drafts", "draftFiles", "shared"],
  "tintype-live": ["livePositions", "liveDevices", "liveMessages"],
} as const;
type DatabaseName = keyof typeof DATABASES;
export type ObjectStoreName = (typeof DATABASES)[DatabaseName][number];

export function openObjectStore<T extends Keyed>(name: ObjectStoreName): ObjectStore<T> {
  return "indexedDB" in globalThis ? new IndexedDbObjectStore<T>(name) : new InMemoryObjectStore<T>();
}

const opened = new Map<DatabaseName, Promise<IDBDatabase>>();

function database(name: DatabaseName): Promise<IDBDatabase> {
  const known = opened.get(name);
  if (known) return known;
  const opening = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const store of DATABASES[name]) request.result.createObjectStore(store, { keyPath: "key" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  opened.set(name, opening);
  return opening;
}

function databaseOf(store: ObjectStoreName): DatabaseName {
  const names = Object.keys(DATABASES) as DatabaseName[];
  return names.find((name) => (DATABASES[name] as readonly string[]).includes(store)) ?? "tintype";
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

class IndexedDbObjectStore<T extends Keyed> implements ObjectStore<T> {
  readonly #name: ObjectStoreName;
  /** Takes over when IndexedDB turns out to be blocked or broken. */
  readonly #fallback = new InMemoryObjectStore<T>();
  isPersistent = true;

  constructor(name: ObjectStoreName) {
    this.#name = name;
  }

  get(key: string): Promise<T | null> {
    return this.#try(
      async () =>
        (await result<T | undefined>((await this.#open("readonly")).get(key))) ?? this.#fallback.get(key),
      () => this.#fallback.get(key),
    );
  }

  all(): Promise<T[]> {
    return this.#try(
      async () => result<T[]>((await this.#open("readonly")).getAll()),
      () => this.#fallback.all(),
    );
  }

  put(value: T): Promise<void> {
    return this.#try(
      async () => {
        const store = await this.#open("readwrite");
        const written = result(store.put(value));
        store.transaction.commit?.(); // A page that is being left cannot commit any more.
        await written;
      },
      () => {
        this.isPersistent = false;
        return this.#fallback.put(value);
      },
    );
  }

  remove(...keys: string[]): Promise<void> {
    return this.#try(
      async () => {
        const store = await this.#open("readwrite");
        await Promise.all(keys.map((key) => result(store.delete(key))));
      },
      () => this.#fallback.remove(...keys),
    );
  }

  update(key: string, decide: (value: T) => T | null | undefined): Promise<void> {
    return this.#try(
      async () => {
        const store = await this.#open("readwrite");
        const value = await result<T | undefined>(store.get(key));
        const next = value === undefined ? undefined : decide(value);
        if (next === undefined) return;
        if (next === null) await result(store.delete(key));
        else await result(store.put(next));
      },
      () => this.#fallback.update(key, decide),
    );
  }

  clear(): Promise<void> {
    return this.#try(
      async () => void (await result((await this.#open("readwrite")).clear())),
      () => this.#fallback.clear(),
    );
  }

  async #open(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    return (await database(databaseOf(this.#name))).transaction(this.#name, mode).objectStore(this.#name);
  }

  async #try<R>(persistent: () => Promise<R>, fallback: () => Promise<R>): Promise<R> {
    try {
      return await persistent();
    } catch {
      return fallback();
    }
  }
}

export class InMemoryObjectStore<T extends Keyed> implements ObjectStore<T> {
  readonly #values = new Map<string, T>();
  readonly isPersistent = false;

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

  async update(key: string, decide: (value: T) => T | null | undefined): Promise<void> {
    const value = this.#values.get(key);
    const next = value === undefined ? undefined : decide(value);
    if (next === null) this.#values.delete(key);
    else if (next !== undefined) this.#values.set(key, next);
  }

  async clear(): Promise<void> {
    this.#values.clear();
  }
}
