/**
 * The queue of offline mutations. An entry is removed only after the server has answered, so a reload or a lost response
 * sends it again, which is safe (see mutations.ts). Only one tab sends at a time.
 */
import { Drainer, MAX_SERVER_ERRORS } from "../base/drainer";
import type { ObjectStore } from "../base/indexedDb";
import { Problem } from "../client";
import { classifyFailure, isUnreachable } from "../client/problem";
import { type Comment, type Mutation, mutationKey } from "./mutations";

export interface QueueEntry {
  /** The mutation's key: a later mutation of the same thing overwrites this entry. */
  readonly key: string;
  readonly accountId: string;
  /** Stored in IndexedDB under this name. */
  readonly wish: Mutation;
  /** Distinguishes this entry from a later one with the same key. */
  readonly revision: string;
  readonly at_ms: number;
  /** How often the server answered with a 5xx. */
  readonly failures: number;
}

export interface QueueDependencies {
  readonly store: ObjectStore<QueueEntry>;
  readonly send: (mutation: Mutation) => Promise<Comment | null>;
  /** Runs the work while holding a lock across all tabs. */
  readonly withLock: (work: () => Promise<void>) => Promise<void>;
  /** Calls back after a delay, or when the connection returns. */
  readonly schedule: (delay_ms: number, then: () => void) => void;
  readonly newRevision: () => string;
  /** A queued mutation was accepted (`problem` is null) or rejected for good. */
  readonly onSettled: (mutation: Mutation, comment: Comment | null, problem: Problem | null) => void;
  /** The queue changed; other tabs have to read it again. */
  readonly onChanged: () => void;
}

export class MutationQueue {
  entries = $state.raw<readonly QueueEntry[]>([]);
  isSending = $state.raw(false);
  #accountId: string | null = null;
  #last_ms = 0;
  readonly #deps: QueueDependencies;
  readonly #drainer: Drainer;

  constructor(deps: QueueDependencies) {
    this.#deps = deps;
    this.#drainer = new Drainer({
      ...deps,
      sendAll: () => this.#sendAll(),
      onRunning: (isRunning) => {
        this.isSending = isRunning;
      },
    });
  }

  /** Sets whose queue this is, deletes entries of other accounts, and starts sending. */
  async setOwner(accountId: string): Promise<void> {
    this.#accountId = accountId;
    const all = await this.#deps.store.all();
    await this.#deps.store.remove(
      ...all.filter((entry) => entry.accountId !== accountId).map(({ key }) => key),
    );
    await this.read();
    if (this.entries.length > 0) void this.drain();
  }

  /** Reads the entries from the store, oldest first. */
  async read(): Promise<void> {
    const all = await this.#deps.store.all();
    this.entries = all
      .filter(({ accountId }) => accountId === this.#accountId)
      .sort((a, b) => a.at_ms - b.at_ms);
  }

  find(key: string): Mutation | null {
    return this.entries.find((entry) => entry.key === key)?.wish ?? null;
  }

  /** Sends the mutation now, or queues it when the server is unreachable (then resolves to null). Rejects when the server does. */
  async submit(mutation: Mutation): Promise<Comment | null> {
    if (this.find(mutationKey(mutation)) === null) {
      try {
        return await this.#deps.send(mutation);
      } catch (error) {
        if (!isUnreachable(error) || this.#accountId === null) throw error;
      }
    }
    await this.enqueue(mutation);
    void this.drain();
    return null;
  }

  async enqueue(mutation: Mutation): Promise<void> {
    if (this.#accountId === null) return;
    this.#last_ms = Math.max(Date.now(), this.#last_ms + 1);
    await this.#deps.store.put({
      key: mutationKey(mutation),
      accountId: this.#accountId,
      wish: mutation,
      revision: this.#deps.newRevision(),
      at_ms: this.#last_ms,
      failures: 0,
    });
    await this.#announceChange();
  }

  /** Removes an entry; a request already sent cannot be recalled. */
  async cancel(key: string): Promise<void> {
    await this.#deps.store.remove(key);
    await this.#announceChange();
  }

  /** Tries every entry once, in order; transient failures are retried later with backoff. */
  drain(): Promise<void> {
    return this.#drainer.drain();
  }

  /** The owner's session ended: entries stay stored, hidden, until they sign in again. */
  async suspend(): Promise<void> {
    this.#accountId = null;
    await this.read();
  }

  async clear(): Promise<void> {
    this.#accountId = null;
    await this.#deps.store.clear();
    await this.#announceChange();
  }

  /** Resolves to false where an entry has to be tried again later. */
  async #sendAll(): Promise<boolean> {
    await this.read(); // Another tab may have sent some of them.
    for (let entry = this.entries[0]; entry !== undefined; entry = this.entries[0]) {
      const outcome = await this.#attempt(entry);
      if (outcome !== "settled") return outcome === "signedOut";
      this.#drainer.resetBackoff();
    }
    return true;
  }

  async #attempt(entry: QueueEntry): Promise<"settled" | "signedOut" | "retry"> {
    try {
      await this.#settle(entry, await this.#deps.send(entry.wish), null);
      return "settled";
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ status: 0, code: "unknown" });
      const failureKind = classifyFailure(error);
      if (failureKind === "signedOut") return failureKind; // Stays queued until its owner signs in again.
      const isExhausted = problem.status >= 500 && entry.failures + 1 >= MAX_SERVER_ERRORS;
      if (failureKind === "rejected" || isExhausted) {
        await this.#settle(entry, null, problem);
        return "settled";
      }
      if (problem.status >= 500) await this.#replace(entry, { ...entry, failures: entry.failures + 1 });
      return "retry";
    }
  }

  async #settle(entry: QueueEntry, comment: Comment | null, problem: Problem | null): Promise<void> {
    // A newer entry with the same key stays queued: the outcome of the older one is no longer of interest.
    if (await this.#replace(entry, null)) this.#deps.onSettled(entry.wish, comment, problem);
    await this.#announceChange();
  }

  /** Compare-and-set on the entry's revision; resolves to whether the entry was still current. */
  async #replace(entry: QueueEntry, next: QueueEntry | null): Promise<boolean> {
    let isCurrent = false;
    await this.#deps.store.update(entry.key, ({ revision }) => {
      isCurrent = revision === entry.revision;
      return isCurrent ? next : undefined;
    });
    return isCurrent;
  }

  async #announceChange(): Promise<void> {
    await this.read();
    this.#deps.onChanged();
  }
}
