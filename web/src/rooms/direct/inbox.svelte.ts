/** The inbox and its folders: the thread with the newest message first, kept current by the live connection. */
import { untrack } from "svelte";
import { nextCursor, PagedList } from "../../base/pagedList.svelte";
import { onAccountHidden } from "../../base/visibilityEvents";
import { direct, type Folder, type InboxEntry, type InboxPage } from "../../client/direct";
import { live, pollUnlessOnline, type UpdatePayloads } from "../../live";
import { isUnreachable, offline } from "../../offline";
import { session } from "../accounts";

const PAGE_SIZE = 20;
/** Updates that come together are one request. */
const SETTLE_MS = 400;
/** Without a live connection an open inbox is read again this often. */
const POLL_MS = 20_000;
const FOLDERS: readonly Folder[] = ["inbox", "requests", "archive"];

export class Inbox {
  readonly folders: Readonly<Record<Folder, PagedList<InboxEntry>>> = {
    inbox: this.#list("inbox"),
    requests: this.#list("requests"),
    archive: this.#list("archive"),
  };
  #timer: ReturnType<typeof setTimeout> | undefined;

  #list(folder: Folder): PagedList<InboxEntry> {
    return new PagedList<InboxEntry>(
      (cursor) => this.#fetch(folder, cursor),
      ({ thread_id }) => thread_id,
    );
  }

  /** For `$effect`, which depends on nothing in here: loads the folder and keeps all that were loaded current while it is shown. */
  watch(folder: Folder): () => void {
    return untrack(() => this.#watch(folder));
  }

  #watch(folder: Folder): () => void {
    const list = this.folders[folder];
    if (list.items === null) void list.loadMore();
    else void this.refresh();
    const stops = [
      live.onUpdates(["direct.message"], ({ payload, at }) => this.#onMessage(payload, at)),
      live.onUpdates(["direct.message_changed", "direct.thread", "direct.seen"], () => this.refreshSoon()),
      live.onReset(() => void this.refresh()),
      pollUnlessOnline(() => this.refresh().catch(() => false), POLL_MS), // A refused question is asked again, later.
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** The viewer has read a thread. */
  see(threadId: string): void {
    this.#update(threadId, (entry) => ({ ...entry, unread_count: 0 }));
  }

  refreshSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), SETTLE_MS);
  }

  /** Reads the beginnings of the folders that are loaded again; resolves to whether the server has answered. */
  async refresh(): Promise<boolean> {
    const loaded = FOLDERS.filter((folder) => this.folders[folder].items !== null);
    const answers = await Promise.all(loaded.map((folder) => this.#refresh(folder)));
    return answers.every(Boolean);
  }

  clear(): void {
    for (const folder of FOLDERS) {
      const list = this.folders[folder];
      list.cancel();
      list.items = null;
      list.hasMore = true;
      list.isLoading = false;
      list.failure = null;
    }
  }

  async #refresh(folder: Folder): Promise<boolean> {
    const list = this.folders[folder];
    try {
      const page = await direct.getInbox(folder, null, PAGE_SIZE);
      if (list.items === null) return true;
      this.#keep(folder, page);
      if (list.items.length <= PAGE_SIZE) list.start({ items: page.threads, next: nextCursor(page) });
      else list.items = mergePage(list.items, page);
      return true;
    } catch (error) {
      if (!isUnreachable(error)) throw error; // Otherwise what is shown stays until the connection is back.
      return false;
    }
  }

  async #fetch(folder: Folder, cursor: string | null) {
    try {
      const page = await direct.getInbox(folder, cursor, PAGE_SIZE);
      if (cursor === null) this.#keep(folder, page);
      return { items: page.threads, next: nextCursor(page) };
    } catch (error) {
      const cached =
        cursor === null && isUnreachable(error) ? await offline.read<InboxPage>(cacheKey(folder)) : null;
      if (cached === null) throw error;
      return { items: cached.threads, next: null };
    }
  }

  #keep(folder: Folder, page: InboxPage): void {
    void offline.store(cacheKey(folder), page);
  }

  /** Shows a new message at once; the server's view of the folder follows. */
  #onMessage(payload: UpdatePayloads["direct.message"], at: string): void {
    const isOwn = payload.account_id === session.account?.account_id;
    this.#update(payload.thread_id, (entry) => {
      const last = entry.last_message;
      const author = entry.people.find(({ account_id }) => account_id === payload.account_id) ?? null;
      if (last === null || payload.text === null || payload.kind !== "text" || payload.number <= last.number)
        return entry;
      const { message_id, number, text } = payload;
      const change = {
        message_id,
        number,
        text,
        author,
        is_own: isOwn,
        kind: "text" as const,
        is_hidden: false,
        created_at: at,
      };
      return {
        ...entry,
        last_message: { ...last, ...change },
        unread_count: isOwn ? 0 : entry.unread_count + 1,
      };
    });
    this.refreshSoon();
  }

  #update(threadId: string, change: (entry: InboxEntry) => InboxEntry): void {
    for (const folder of FOLDERS) {
      const list = this.folders[folder];
      if (!list.items?.some(({ thread_id }) => thread_id === threadId)) continue;
      list.items = byNewest(
        list.items.map((entry) => (entry.thread_id === threadId ? change(entry) : entry)),
      );
    }
  }
}

/** The list with its beginning as it is now: what is gone from there goes, what lies further back stays. */
export function mergePage(items: readonly InboxEntry[], page: InboxPage): InboxEntry[] {
  const last = page.threads.at(-1);
  if (!page.has_more || last === undefined) return page.threads;
  const fresh = new Set(page.threads.map(({ thread_id }) => thread_id));
  return [
    ...page.threads,
    ...items.filter((entry) => !fresh.has(entry.thread_id) && timeOf(entry) < timeOf(last)),
  ];
}

function byNewest(items: readonly InboxEntry[]): InboxEntry[] {
  return [...items].sort((a, b) => timeOf(b) - timeOf(a));
}

function timeOf(entry: InboxEntry): number {
  return entry.last_message === null ? 0 : Date.parse(entry.last_message.created_at);
}

function cacheKey(folder: Folder): string {
  return `direct:${folder}`;
}

export const inbox = new Inbox();
session.onChange(() => inbox.clear());
onAccountHidden(() => inbox.refreshSoon());
