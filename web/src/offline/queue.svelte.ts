/**
 * Wishes that wait for a connection. A wish leaves the queue only after the server has answered it, so that a reload
 * or a lost answer sends it again; what is sent again changes nothing (see wishes.ts). One tab sends at a time.
 */
import type { Drawer } from "../base/store";
import { Problem } from "../client";
import { type Comment, fateOf, isUnreachable, subjectOf, type Wish } from "./wishes";

export interface Entry {
  /** Its subject, so that a later wish about the same thing takes the place of an earlier one. */
  readonly key: string;
  readonly accountId: string;
  readonly wish: Wish;
  /** Tells this wish from a later one about the same thing. */
  readonly revision: string;
  readonly at_ms: number;
  /** How often a server that did answer failed at it. */
  readonly failures: number;
}

export interface QueueWiring {
  readonly drawer: Drawer<Entry>;
  readonly perform: (wish: Wish) => Promise<Comment | null>;
  /** Runs the work alone among all tabs. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  /** Calls back after a pause, or when the connection returns. */
  readonly later: (pause_ms: number, then: () => void) => void;
  readonly draw: () => string;
  /** The wish has been met (`problem` is null) or refused for good. */
  readonly settled: (wish: Wish, answer: Comment | null, problem: Problem | null) => void;
  /** What waits has changed; other tabs want to know. */
  readonly changed: () => void;
}

const FIRST_PAUSE_MS = 4_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A server that answers, and fails every time, does not want it. */
const MOST_FAILURES = 12;

export class Queue {
  entries = $state.raw<readonly Entry[]>([]);
  isSending = $state.raw(false);
  #accountId: string | null = null;
  #again = false;
  #draining: Promise<void> | null = null;
  #pauses = 0;
  #last_ms = 0;
  readonly #wiring: QueueWiring;

  constructor(wiring: QueueWiring) {
    this.#wiring = wiring;
  }

  /** Whose wishes these are; nobody else's stay on this device. */
  async belongTo(accountId: string): Promise<void> {
    this.#accountId = accountId;
    const all = await this.#wiring.drawer.all();
    await this.#wiring.drawer.remove(
      ...all.filter((entry) => entry.accountId !== accountId).map(({ key }) => key),
    );
    await this.read();
    if (this.entries.length > 0) void this.drain();
  }

  /** What waits, as the drawer has it. */
  async read(): Promise<void> {
    const all = await this.#wiring.drawer.all();
    this.entries = all
      .filter(({ accountId }) => accountId === this.#accountId)
      .sort((a, b) => a.at_ms - b.at_ms);
  }

  find(subject: string): Wish | null {
    return this.entries.find(({ key }) => key === subject)?.wish ?? null;
  }

  /** Met now, or kept until it can be: then the answer is null. Rejects when the server refuses. */
  async carry(wish: Wish): Promise<Comment | null> {
    if (this.find(subjectOf(wish)) === null) {
      try {
        return await this.#wiring.perform(wish);
      } catch (error) {
        if (!isUnreachable(error) || this.#accountId === null) throw error;
      }
    }
    await this.add(wish);
    void this.drain();
    return null;
  }

  async add(wish: Wish): Promise<void> {
    if (this.#accountId === null) return;
    this.#last_ms = Math.max(Date.now(), this.#last_ms + 1);
    const facts = { accountId: this.#accountId, at_ms: this.#last_ms, failures: 0 };
    await this.#wiring.drawer.put({
      key: subjectOf(wish),
      wish,
      revision: this.#wiring.draw(),
      ...facts,
    });
    await this.#noteChange();
  }

  /** Somebody no longer wants it; what has been sent cannot be called back. */
  async withdraw(subject: string): Promise<void> {
    await this.#wiring.drawer.remove(subject);
    await this.#noteChange();
  }

  /** Everything that waits has been tried once, in order; what failed in passing is tried again later. */
  drain(): Promise<void> {
    this.#again = true;
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  /** Its owner is away: what waits stays in the drawer until they are back, unseen. */
  async rest(): Promise<void> {
    this.#accountId = null;
    await this.read();
  }

  async forget(): Promise<void> {
    this.#accountId = null;
    await this.#wiring.drawer.clear();
    await this.#noteChange();
  }

  async #drain(): Promise<void> {
    this.isSending = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#wiring.alone(() => this.#work());
      }
    } finally {
      this.isSending = false;
      this.#draining = null;
    }
  }

  async #work(): Promise<void> {
    await this.read(); // Another tab may have seen to it.
    for (let entry = this.entries[0]; entry !== undefined; entry = this.entries[0]) {
      if (!(await this.#attempt(entry))) return;
      this.#pauses = 0;
    }
  }

  /** Whether to go on with the next one. */
  async #attempt(entry: Entry): Promise<boolean> {
    try {
      await this.#settle(entry, await this.#wiring.perform(entry.wish), null);
      return true;
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ status: 0, code: "unknown" });
      const fate = fateOf(error);
      if (fate === "signedOut") return false; // It waits until its owner is back.
      const isHopeless = problem.status >= 500 && entry.failures + 1 >= MOST_FAILURES;
      if (fate === "refused" || isHopeless) {
        await this.#settle(entry, null, problem);
        return true;
      }
      await this.#postpone(entry, problem);
      return false;
    }
  }

  async #settle(entry: Entry, answer: Comment | null, problem: Problem | null): Promise<void> {
    // A later wish about the same thing stands: the answer to the earlier one is no news.
    if (await this.#replace(entry, null)) this.#wiring.settled(entry.wish, answer, problem);
    await this.#noteChange();
  }

  async #postpone(entry: Entry, problem: Problem): Promise<void> {
    if (problem.status >= 500) await this.#replace(entry, { ...entry, failures: entry.failures + 1 });
    const pause_ms = Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS);
    this.#pauses += 1;
    this.#wiring.later(pause_ms, () => void this.drain());
  }

  /** Whether the entry was still the one in the drawer. */
  async #replace(entry: Entry, next: Entry | null): Promise<boolean> {
    let isSame = false;
    await this.#wiring.drawer.change(entry.key, ({ revision }) => {
      isSame = revision === entry.revision;
      return isSame ? next : undefined;
    });
    return isSame;
  }

  async #noteChange(): Promise<void> {
    await this.read();
    this.#wiring.changed();
  }
}
