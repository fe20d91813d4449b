/**
 * Where a device keeps its keys and what it has read: one IndexedDB database per account. Several values are written together
 * or not at all, because a message whose key is gone and whose text was not stored is lost.
 */

import { keysDatabase } from "../../../base/encryptionKeys";

export type Writes = Readonly<Record<string, unknown>>;

export interface KeyStore {
  get<T>(key: string): Promise<T | null>;
  /** Values whose key begins with the prefix, in the order of their keys. */
  list<T>(prefix: string): Promise<T[]>;
  /** Writes all of these, or none; null deletes. */
  write(values: Writes): Promise<void>;
  /** Runs alone: no other tab and no other call with this name runs at the same time. */
  exclusively<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** Deletes everything. */
  destroy(): Promise<void>;
}

const STORE = "values";
/** Greater than every character of a key. */
const LAST = "￿";

export class IndexedDbKeyStore implements KeyStore {
  readonly #name: string;
  readonly #database: Promise<IDBDatabase>;

  constructor(accountId: string) {
    this.#name = keysDatabase(accountId);
    this.#database = new Promise((resolve, reject) => {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => {
        request.result.onversionchange = () => request.result.close(); // Somebody logs out: it is being deleted.
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
  }

  async get<T>(key: string): Promise<T | null> {
    const store = (await this.#database).transaction(STORE, "readonly").objectStore(STORE);
    return ((await result(store.get(key))) as T | undefined) ?? null;
  }

  async list<T>(prefix: string): Promise<T[]> {
    const store = (await this.#database).transaction(STORE, "readonly").objectStore(STORE);
    return (await result(store.getAll(IDBKeyRange.bound(prefix, prefix + LAST)))) as T[];
  }

  async write(values: Writes): Promise<void> {
    const transaction = (await this.#database).transaction(STORE, "readwrite", { durability: "strict" });
    const store = transaction.objectStore(STORE);
    for (const [key, value] of Object.entries(values)) {
      if (value === null) store.delete(key);
      else store.put(value, key);
    }
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  exclusively<T>(name: string, run: () => Promise<T>): Promise<T> {
    return navigator.locks.request(`${this.#name}:${name}`, run) as Promise<T>;
  }

  async destroy(): Promise<void> {
    (await this.#database).close();
    await result(indexedDB.deleteDatabase(this.#name));
  }
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** For tests: values are copied, as IndexedDB does. */
export class InMemoryKeyStore implements KeyStore {
  readonly #values = new Map<string, unknown>();
  readonly #last = new Map<string, Promise<unknown>>();

  async get<T>(key: string): Promise<T | null> {
    return structuredClone((this.#values.get(key) as T | undefined) ?? null);
  }

  async list<T>(prefix: string): Promise<T[]> {
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => structuredClone(this.#values.get(key) as T));
  }

  async write(values: Writes): Promise<void> {
    for (const [key, value] of Object.entries(structuredClone(values))) {
      if (value === null) this.#values.delete(key);
      else this.#values.set(key, value);
    }
  }

  async exclusively<T>(name: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const running = before.then(run, run);
    this.#last.set(
      name,
      running.catch(() => {}),
    ); // Whoever called learns of the error; the next one only waits.
    return running;
  }

  async destroy(): Promise<void> {
    this.#values.clear();
  }
}
