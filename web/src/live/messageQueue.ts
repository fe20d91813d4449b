/**
 * The queue of changes in threads: stored before they are sent and removed after the server has answered, so that a reload, a
 * lost response or a killed tab sends them again, which is safe under their local ids. One tab sends at a time; the changes of a
 * thread go one after another, under the counters of docs/adr/0073.
 */
import { Drainer, type DrainerDependencies, MAX_SERVER_ERRORS } from "../base/drainer";
import type { ObjectStore } from "../base/indexedDb";
import { Problem } from "../client";
import { classifyFailure } from "../client/problem";
import type { ChangeSender, StoredChange } from "./changeSender";
import type { Change, Mutations, Observable, QueuedChange } from "./contract";
import { ObservableValue } from "./observable";

/** What the tabs of a browser tell each other. */
export type QueueNews = { readonly sent: string; readonly result: QueuedChange["result"] } | null;

export interface MessageQueueDependencies extends Pick<DrainerDependencies, "withLock" | "schedule"> {
  readonly store: ObjectStore<StoredChange>;
  readonly sender: ChangeSender;
  readonly newId: () => string;
  readonly now: () => number;
  /** Tells the other tabs that the queue has changed, or that a change was sent. */
  readonly announce: (news: QueueNews) => void;
}

/** Sent changes that nobody acknowledged are forgotten beyond this number. */
const MAX_SENT = 100;
/** How long another tab has to send what it has queued before this one tries. */
const TAKE_OVER_MS = 15_000;

export class MessageQueue implements Mutations {
  readonly #deps: MessageQueueDependencies;
  readonly #drainer: Drainer;
  readonly #threads = new Map<string, ObservableValue<readonly QueuedChange[]>>();
  #entries: readonly StoredChange[] = [];
  /** Sent in this page's life, and not acknowledged yet. */
  #sent: readonly QueuedChange[] = [];
  readonly #progress = new Map<string, number>();
  #accountId: string | null = null;
  readonly #awaitingOwner: ((accountId: string) => void)[] = [];
  #last_ms = 0;

  constructor(deps: MessageQueueDependencies) {
    this.#deps = deps;
    this.#drainer = new Drainer({ ...deps, sendAll: () => this.#sendAll() });
  }

  /** Sets whose queue this is, deletes the changes of other accounts, and starts sending. */
  async setOwner(accountId: string): Promise<void> {
    if (this.#accountId !== accountId) this.#sent = [];
    this.#accountId = accountId;
    for (const tell of this.#awaitingOwner.splice(0)) tell(accountId);
    await this.forget((owner) => owner !== accountId);
    if (this.#pending().length > 0) void this.drain();
  }

  /** The session has ended: what is stored stays until its owner signs in again. */
  async suspend(): Promise<void> {
    this.#accountId = null;
    this.#sent = [];
    await this.read();
  }

  /** Deletes the changes of these accounts. */
  async forget(isForgotten: (accountId: string) => boolean): Promise<void> {
    const gone = (await this.#deps.store.all()).filter(({ accountId }) => isForgotten(accountId));
    if (gone.length > 0) await this.#deps.store.remove(...gone.map(({ key }) => key));
    await this.read();
  }

  async enqueue(threadId: string, change: Change): Promise<QueuedChange> {
    const entry: StoredChange = {
      key: this.#deps.newId(),
      accountId: this.#accountId ?? (await this.#owner()),
      threadId,
      change,
      at_ms: this.#nextTime(),
      serverErrors: 0,
      problem: null,
      uploadId: null,
      mediaId: null,
    };
    await this.#deps.store.put(entry);
    await this.#announceChange();
    void this.drain();
    return this.#show(entry);
  }

  /** Whose queue it is, once that is known: somebody may write before the page has begun to be live. */
  #owner(): Promise<string> {
    return new Promise((resolve) => this.#awaitingOwner.push(resolve));
  }

  async retry(localId: string): Promise<void> {
    const at_ms = this.#nextTime();
    await this.#deps.store.update(localId, (entry) => ({ ...entry, at_ms, problem: null, serverErrors: 0 }));
    await this.#announceChange();
    void this.drain();
  }

  async discard(localId: string): Promise<void> {
    await this.#deps.store.remove(localId);
    await this.#announceChange();
  }

  of(threadId: string): Observable<readonly QueuedChange[]> {
    return this.#thread(threadId);
  }

  acknowledge(messageIds: readonly string[]): void {
    const shown = new Set(messageIds);
    const isShown = ({ result }: QueuedChange) => result !== null && shown.has(result.message_id);
    if (!this.#sent.some(isShown)) return;
    this.#sent = this.#sent.filter((each) => !isShown(each));
    this.#publish();
  }

  drain(): Promise<void> {
    return this.#drainer.drain();
  }

  /** Reads the entries from the store, oldest first. */
  async read(): Promise<void> {
    const all = await this.#deps.store.all();
    this.#entries = all
      .filter(({ accountId }) => accountId === this.#accountId)
      .sort((a, b) => a.at_ms - b.at_ms);
    this.#publish();
  }

  /** Another tab has changed the queue. Should it be closed before it has sent everything, this one goes on. */
  async hear(news: QueueNews): Promise<void> {
    if (news !== null) this.#keepSent(news.sent, news.result);
    await this.read();
    if (this.#pending().length > 0) this.#deps.schedule(TAKE_OVER_MS, () => void this.drain());
  }

  #pending(): readonly StoredChange[] {
    return this.#entries.filter(({ problem }) => problem === null);
  }

  /** All threads at once: a long upload in one of them does not hold up another. */
  async #sendAll(): Promise<boolean> {
    await this.read(); // Another tab may have sent some of them.
    const threads = [...new Set(this.#pending().map(({ threadId }) => threadId))];
    const done = await Promise.all(threads.map((threadId) => this.#sendThread(threadId)));
    return done.every(Boolean);
  }

  /** Resolves to false where a change has to be tried again later. */
  async #sendThread(threadId: string): Promise<boolean> {
    const next = () => this.#pending().find((entry) => entry.threadId === threadId);
    for (let entry = next(); entry !== undefined; entry = next()) {
      const outcome = await this.#attempt(entry);
      if (outcome !== "settled") return outcome === "signedOut";
      this.#drainer.resetBackoff();
    }
    return true;
  }

  async #attempt(entry: StoredChange): Promise<"settled" | "signedOut" | "retry"> {
    try {
      const result = await this.#deps.sender.send(entry, (share) => this.#showProgress(entry.key, share));
      this.#keepSent(entry.key, result);
      await this.#deps.store.remove(entry.key);
      await this.#announceChange({ sent: entry.key, result });
      return "settled";
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem({ status: 0, code: "unknown" });
      const kind = classifyFailure(error);
      if (kind === "signedOut") return kind;
      const serverErrors = entry.serverErrors + (problem.status >= 500 ? 1 : 0);
      const isRefused = kind === "rejected" || serverErrors >= MAX_SERVER_ERRORS;
      await this.#noteFailure(entry, serverErrors, isRefused ? problem : null);
      return isRefused ? "settled" : "retry";
    } finally {
      this.#progress.delete(entry.key);
    }
  }

  /** A refused change keeps its place in view and leaves its counter to the next one. */
  async #noteFailure(entry: StoredChange, serverErrors: number, refusal: Problem | null): Promise<void> {
    const problem = refusal && { status: refusal.status, code: refusal.code, detail: refusal.detail };
    await this.#deps.store.update(entry.key, (current) => ({ ...current, serverErrors, problem }));
    await this.#announceChange();
  }

  #showProgress(localId: string, share: number): void {
    this.#progress.set(localId, share);
    this.#publish();
  }

  #keepSent(localId: string, result: QueuedChange["result"]): void {
    const entry = this.#entries.find(({ key }) => key === localId);
    if (entry === undefined || result === null) return;
    this.#sent = [...this.#sent, { ...this.#show(entry), status: "sent" as const, result }].slice(-MAX_SENT);
    this.#entries = this.#entries.filter(({ key }) => key !== localId);
    this.#publish();
  }

  async #announceChange(news: QueueNews = null): Promise<void> {
    await this.read();
    this.#deps.announce(news);
  }

  #thread(threadId: string): ObservableValue<readonly QueuedChange[]> {
    const known = this.#threads.get(threadId) ?? new ObservableValue(this.#changesOf(threadId));
    this.#threads.set(threadId, known);
    return known;
  }

  #publish(): void {
    for (const [threadId, thread] of this.#threads) thread.set(this.#changesOf(threadId));
  }

  #changesOf(threadId: string): readonly QueuedChange[] {
    return [...this.#sent, ...this.#entries.map((entry) => this.#show(entry))]
      .filter((each) => each.threadId === threadId)
      .sort((a, b) => a.at_ms - b.at_ms);
  }

  #show({ key, threadId, change, at_ms, problem }: StoredChange): QueuedChange {
    const status = problem === null ? "pending" : "failed";
    const progress = this.#progress.get(key) ?? null;
    return { localId: key, threadId, change, status, at_ms, progress, problem, result: null };
  }

  /** Later than all others of this tab, though the clock may stand still. */
  #nextTime(): number {
    this.#last_ms = Math.max(this.#deps.now(), this.#last_ms + 1);
    return this.#last_ms;
  }
}
