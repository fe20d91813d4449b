/**
 * One thread on screen: its messages, with those of this device that are on their way, kept current by the live connection.
 * Messages are contiguous and end with the newest: pages are added at the beginning.
 */
import { untrack } from "svelte";
import { isNotFound, Problem } from "../../client";
import { direct, type Message, type Thread } from "../../client/direct";
import { live, mutations, pollUnlessOnline, type QueuedChange } from "../../live";
import { isUnreachable, offline } from "../../offline";
import { errorMessage, toasts } from "../../ui";
import { session } from "../accounts";
import { ConversationUpdates } from "./conversationUpdates";
import { inbox } from "./inbox.svelte";
import { asAuthor } from "./ownAuthor";
import { SealedThread } from "./sealedThread.svelte";
import { applyChange, applyQueued } from "./shownMessage";
import { othersOf, threadTitle } from "./threadTexts";
import { rowsOf, seenMarkers } from "./timeline";
import { Typing } from "./typing.svelte";

const PAGE_SIZE = 40;
/** What is kept on the device for reading offline. */
const CACHED_MESSAGES = 40;
/** Without a live connection an open thread is read again this often. */
const POLL_MS = 6_000;
/** How far back a jump from the search goes. */
const MAX_JUMP_PAGES = 60;

interface CachedThread {
  readonly thread: Thread;
  readonly messages: readonly Message[];
}

export class Conversation {
  readonly threadId: string;
  thread = $state.raw<Thread | null>(null);
  /** As the server has them, oldest first. */
  messages = $state.raw<readonly Message[]>([]);
  queued = $state.raw<readonly QueuedChange[]>([]);
  /** The first page is there, from the server or from this device. */
  isLoaded = $state.raw(false);
  isLoadingOlder = $state.raw(false);
  hasOlder = $state.raw(false);
  failure = $state.raw<unknown>(null);
  readonly typing: Typing;
  /** The keys of an encrypted thread, and what they open. */
  readonly sealed: SealedThread;
  #cursor: string | null = null;
  #firstUnread = $state.raw<number | null>(null);
  #isClosed = false;
  readonly #updates: ConversationUpdates;

  constructor(threadId: string) {
    this.threadId = threadId;
    this.typing = new Typing(threadId);
    this.sealed = new SealedThread(threadId);
    this.#updates = new ConversationUpdates(this);
  }

  readonly viewer = $derived(session.account === null ? null : asAuthor(session.account));
  readonly others = $derived(
    this.thread === null ? [] : othersOf(this.thread, this.viewer?.account_id ?? null),
  );
  readonly title = $derived(
    this.thread === null ? "" : threadTitle(this.thread.kind, this.thread.name, this.others),
  );
  readonly isEncrypted = $derived(this.thread?.is_encrypted ?? false);
  readonly #unsealed = $derived.by(() =>
    this.isEncrypted ? this.sealed.unseal(this.messages, this.thread) : this.messages,
  );
  readonly shown = $derived.by(() => [
    ...applyQueued(this.#unsealed, this.queued, this.viewer),
    ...(this.isEncrypted ? this.sealed.outgoing(this.viewer, this.#unsealed) : []),
  ]);
  readonly #seen = $derived(
    seenMarkers(this.shown, this.thread?.members ?? [], this.viewer?.account_id ?? null),
  );
  readonly rows = $derived(rowsOf(this.shown, this.#seen, this.#firstUnread));
  readonly isGone = $derived(isNotFound(this.failure));
  readonly newest = $derived(this.messages.at(-1) ?? null);

  /** For `$effect`, which depends on nothing in here: loads the thread and keeps it current until the returned function is called. */
  open(): () => void {
    return untrack(() => this.#open());
  }

  #open(): () => void {
    const stops = [
      mutations.of(this.threadId).subscribe((changes) => this.#onQueued(changes)),
      this.#updates.listen(),
      this.typing.listen(),
      live.onReset(() => void this.refresh()),
      pollUnlessOnline(() => this.refresh(), POLL_MS),
    ];
    void this.#start();
    return () => {
      this.#isClosed = true;
      this.sealed.close();
      for (const stop of stops) stop();
    };
  }

  /** Shows what this device has, then what the server has. */
  async #start(): Promise<void> {
    const cached = await offline.read<CachedThread>(this.#cacheKey);
    if (cached !== null && !this.isLoaded && !this.#isClosed) {
      this.thread = cached.thread;
      this.messages = cached.messages;
      this.isLoaded = true;
    }
    await this.load();
  }

  /** Resolves to whether the server has answered. */
  async load(): Promise<boolean> {
    this.failure = null;
    try {
      const [thread, page] = await Promise.all([
        direct.getThread(this.threadId),
        direct.getMessages(this.threadId, null, PAGE_SIZE),
      ]);
      if (this.#isClosed) return true;
      if (this.#firstUnread === null && thread.unread_count > 0) this.#firstUnread = thread.seen_number + 1;
      this.thread = thread;
      this.#startFrom([...page.messages].reverse(), page.has_more ? page.next_cursor : null);
      this.isLoaded = true;
    } catch (error) {
      if (!this.isLoaded || !isUnreachable(error)) this.failure = error; // Otherwise what was kept on this device stays.
      return !isUnreachable(error);
    }
    return true;
  }

  /** Reads the thread and its newest messages again, keeping the older ones; resolves to whether the server has answered. */
  async refresh(): Promise<boolean> {
    if (this.messages.length === 0 || this.failure !== null) return this.load();
    try {
      const [thread, page] = await Promise.all([
        direct.getThread(this.threadId),
        direct.getMessages(this.threadId, null, PAGE_SIZE),
      ]);
      const fresh = [...page.messages].reverse();
      const isContiguous = fresh.some(({ message_id }) =>
        this.messages.some((each) => each.message_id === message_id),
      );
      this.thread = thread;
      if (isContiguous) this.#replaceFrom(fresh);
      else this.#startFrom(fresh, page.has_more ? page.next_cursor : null);
    } catch (error) {
      if (isNotFound(error)) this.failure = error;
      return !isUnreachable(error);
    }
    return true;
  }

  async refreshThread(): Promise<void> {
    try {
      this.thread = await direct.getThread(this.threadId);
      if (this.isEncrypted) void this.sealed.refresh(); // Devices may have come or gone.
    } catch (error) {
      if (isNotFound(error)) this.failure = error;
    }
  }

  /** Adds the page before the first message; resolves to whether there was one. */
  async loadOlder(limit = PAGE_SIZE): Promise<boolean> {
    if (this.isLoadingOlder || !this.hasOlder) return false;
    this.isLoadingOlder = true;
    try {
      const page = await direct.getMessages(this.threadId, this.#cursor, limit);
      if (this.#isClosed) return false;
      this.#cursor = page.has_more ? page.next_cursor : null;
      this.hasOlder = page.has_more;
      this.merge(...page.messages);
      return page.messages.length > 0;
    } catch {
      return false; // Scrolling further tries again.
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** Loads pages until the message is among them; resolves to whether it is. */
  async loadUntil(messageId: string): Promise<boolean> {
    for (let pages = 0; pages < MAX_JUMP_PAGES; pages++) {
      if (this.messages.some(({ message_id }) => message_id === messageId)) return true;
      if (!(await this.loadOlder(50))) return false;
    }
    return false;
  }

  /** Adds messages, or replaces those that are there, in the order of their numbers. */
  merge(...changed: readonly Message[]): void {
    const byId = new Map(this.messages.map((message) => [message.message_id, message]));
    for (const message of changed) byId.set(message.message_id, message);
    this.#set([...byId.values()].sort((a, b) => a.number - b.number));
    mutations.acknowledge(changed.map(({ message_id }) => message_id));
  }

  remove(messageId: string): void {
    this.#set(this.messages.filter(({ message_id }) => message_id !== messageId));
  }

  /** Tries to send a message again that failed. */
  retry(localId: string): void {
    if (this.isEncrypted) void this.sealed.retry(localId);
    else void mutations.retry(localId);
  }

  /** Gives up a message that was not sent. */
  discard(localId: string): void {
    if (this.isEncrypted) void this.sealed.discard(localId);
    else void mutations.discard(localId);
  }

  /** Everything up to the newest message was on screen. */
  see(): void {
    const { thread, newest } = this;
    if (thread === null || newest === null || newest.number <= thread.seen_number) return;
    this.thread = { ...thread, seen_number: newest.number, unread_count: 0 };
    inbox.see(this.threadId);
    live.command("direct.seen", { thread_id: this.threadId, number: newest.number }).catch(() => {
      // The next message, or the next visit, says so again.
    });
  }

  /** An edit or reaction that left the queue was accepted: it stays in view, and is read again. One that was refused is taken back. */
  #onQueued(changes: readonly QueuedChange[]): void {
    const before = this.queued;
    this.queued = changes;
    const left = new Set(changes.map(({ localId }) => localId));
    for (const each of before) if (each.status === "pending" && !left.has(each.localId)) this.#settle(each);
    for (const { localId, change, status, problem } of changes) {
      if (change.kind === "send" || status !== "failed") continue;
      toasts.error(errorMessage(new Problem(problem ?? { status: 0, code: "unknown" })));
      void mutations.discard(localId);
    }
  }

  #settle(queued: QueuedChange): void {
    if (queued.change.kind === "send") return;
    const { message_id } = queued.change.body;
    this.messages = this.messages.map((each) =>
      each.message_id === message_id ? applyChange(each, queued, this.viewer) : each,
    );
    void this.#updates.fetch(message_id);
  }

  #startFrom(messages: readonly Message[], cursor: string | null): void {
    this.#cursor = cursor;
    this.hasOlder = cursor !== null;
    this.#set(messages);
    mutations.acknowledge(messages.map(({ message_id }) => message_id));
  }

  /** The newest messages as they are now; what lies before them stays. */
  #replaceFrom(fresh: readonly Message[]): void {
    const first = fresh[0]?.number ?? 0;
    this.#set([...this.messages.filter(({ number }) => number < first), ...fresh]);
    mutations.acknowledge(fresh.map(({ message_id }) => message_id));
  }

  #set(messages: readonly Message[]): void {
    this.messages = messages;
    if (this.isEncrypted) void this.sealed.refresh();
    const value: CachedThread | null = this.thread && {
      thread: this.thread,
      messages: messages.slice(-CACHED_MESSAGES),
    };
    if (value !== null) void offline.store(this.#cacheKey, value);
  }

  get #cacheKey(): string {
    return `direct:${this.threadId}`;
  }
}
