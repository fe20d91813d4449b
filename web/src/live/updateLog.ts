/**
 * The position in the account's update log. Updates are delivered in the order of their numbers, each once: what has a number
 * that was delivered is dropped, and a number beyond the next one means that some were lost, which the server's log has.
 */
import { retryDelay } from "../base/retryDelay";
import type { Schemas } from "../client";
import type { Update } from "./contract";

export type SyncPage = Schemas["SyncView"];

export interface UpdateLogDependencies {
  /** Reads the server's log after a number; without one only where it is now. Rejects with a Problem. */
  readonly read: (since: number | null) => Promise<SyncPage>;
  readonly deliver: (update: Update) => void;
  /** The updates up to this number will not be delivered. */
  readonly reset: (seq: number) => void;
  /** Everything up to this number was delivered. */
  readonly remember: (seq: number) => void;
}

/** Further behind than this, everything is fetched anew: that takes fewer requests than following. */
const MAX_BEHIND = 1_000;
/** More than this is not held while a gap is filled: the log has it anyway. */
const MAX_HELD = 500;
const RETRY = { first_ms: 2_000, max_ms: 60_000 };

export class UpdateLog {
  readonly #deps: UpdateLogDependencies;
  /** The number of the latest update that was delivered; null before the beginning is known. */
  #position: number | null;
  /** Updates that arrived ahead of others, by number. */
  readonly #held = new Map<number, Update>();
  #reading: Promise<boolean> | null = null;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isEnded = false;

  constructor(deps: UpdateLogDependencies, position: number | null) {
    this.#deps = deps;
    this.#position = position;
  }

  get position(): number | null {
    return this.#position;
  }

  /** Takes an update that was pushed: delivers it when it is the next one, and fills the gap before it otherwise. */
  receive(update: Update): void {
    if (this.#isEnded || (this.#position !== null && update.seq <= this.#position)) return;
    if (this.#held.size < MAX_HELD) this.#held.set(update.seq, update);
    this.#deliverHeld();
    if (this.#held.size > 0 && this.#retry === undefined) void this.#fill();
  }

  /** Another tab has started anew from this number. One that is behind this tab's own is for the server to judge. */
  skipTo(seq: number): void {
    if (this.#isEnded || seq === this.#position) return;
    if (this.#position !== null && seq < this.#position) return void this.catchUp();
    this.#startAt(seq);
    this.#deliverHeld();
  }

  /** Delivers what the server has since the latest update; resolves to whether the server answered. */
  catchUp(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#retry);
    this.#held.clear();
  }

  /** Reads until no gap is left. */
  async #fill(): Promise<void> {
    const hasAnswered = await this.catchUp();
    this.#deliverHeld();
    if (hasAnswered) this.#failures = 0;
    if (this.#held.size === 0 || this.#isEnded || this.#retry !== undefined) return;
    this.#failures += 1;
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        void this.#fill();
      },
      retryDelay(this.#failures, RETRY),
    );
  }

  async #read(): Promise<boolean> {
    try {
      for (let hasMore = true; hasMore && !this.#isEnded; )
        hasMore = this.#take(await this.#deps.read(this.#position));
    } catch {
      return false; // No connection: the next push, poll or retry reads again.
    }
    this.#deliverHeld();
    return true;
  }

  /** Delivers a page; returns whether there are more. */
  #take({ updates, seq, is_reset, has_more }: SyncPage): boolean {
    if (this.#isEnded) return false;
    const isFirst = this.#position === null;
    if (is_reset || isFirst || seq - (this.#position ?? 0) > MAX_BEHIND) {
      this.#startAt(seq);
      return false;
    }
    for (const update of updates) this.#deliver(update);
    return has_more;
  }

  #startAt(seq: number): void {
    for (const held of [...this.#held.keys()]) if (held <= seq) this.#held.delete(held);
    this.#position = seq;
    this.#deps.reset(seq);
    this.#deps.remember(seq);
  }

  #deliverHeld(): void {
    while (this.#position !== null && !this.#isEnded) {
      const next = this.#held.get(this.#position + 1);
      if (next === undefined) break;
      this.#deliver(next);
    }
    for (const seq of [...this.#held.keys()]) if (seq <= (this.#position ?? 0)) this.#held.delete(seq);
  }

  #deliver(update: Update): void {
    if (this.#isEnded || update.seq !== (this.#position ?? 0) + 1) return;
    this.#position = update.seq;
    this.#held.delete(update.seq);
    this.#deps.deliver(update);
    this.#deps.remember(update.seq);
  }
}
