/** Connects the mutation queue and the offline cache to the browser: storage, the lock across tabs, messages between tabs. */
import { language, t } from "../base/i18n";
import { imageCacheFolder, imageCacheName, readOwner, setImageOwner } from "../base/imageCache";
import { openObjectStore } from "../base/indexedDb";
import { randomId } from "../base/random";
import { singleTimer, withTabLock } from "../base/tabLock";
import { type Post, Problem } from "../client";
import { errorMessage, toasts } from "../ui";
import { forgetDrafts } from "./draftStore";
import { MutationQueue, type QueueEntry } from "./mutationQueue.svelte";
import { type Comment, type Mutation, type MutationKind, sendMutation } from "./mutations";
import { OfflineCache } from "./offlineCache";

/** Called when a queued mutation was accepted (`problem` is null) or rejected, so that rooms can update what they show. */
export type SettledListener = (mutation: Mutation, comment: Comment | null, problem: Problem | null) => void;

/** What tabs tell each other; null means that the queue changed. Tabs may run different releases: keep these names. */
interface SettledMessage {
  readonly wish: Mutation;
  readonly answer: Comment | null;
  readonly problem: { status: number; code: string; detail: string } | null;
}

const listeners = new Set<SettledListener>();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("tintype.queue") : null;

export const cache = new OfflineCache(undefined, async (accountId) =>
  globalThis.caches === undefined ? true : (await readOwner()) === accountId,
);
export const queue = new MutationQueue({
  store: openObjectStore<QueueEntry>("queue"),
  send: sendMutation,
  withLock: (work) => withTabLock("tintype.queue", work),
  schedule: singleTimer(),
  newRevision: randomId,
  onSettled: (mutation, comment, problem) => {
    for (const listener of listeners) listener(mutation, comment, problem);
    if (problem !== null) void showRejection(mutation.kind, problem);
    const facts = problem && { status: problem.status, code: problem.code, detail: problem.detail };
    channel?.postMessage({ wish: mutation, answer: comment, problem: facts } satisfies SettledMessage);
  },
  onChanged: () => channel?.postMessage(null),
});

/** Subscribes to the outcome of queued mutations, in this tab or another. */
export function onSettled(listener: SettledListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back with the queued mutations now and whenever they change. */
export function watchPending(watcher: (pending: readonly Mutation[]) => void): () => void {
  return $effect.root(() => {
    $effect(() => watcher(queue.entries.map(({ wish }) => wish)));
  });
}

/** Changes of the owner, one after the other: a sign-out and a sign-in right after it must not overtake each other. */
let ownership: Promise<unknown> = Promise.resolve();
function inTurn(change: () => Promise<unknown>): Promise<void> {
  const turn = ownership.then(change);
  ownership = turn.catch(() => undefined);
  return turn.then(() => undefined);
}

/** Deletes the cached images and responses, and the queues and the drafts unless `keepMutations`. */
export function clear({ keepMutations = false } = {}): Promise<void> {
  return inTurn(async () => {
    const mutations = keepMutations
      ? queue.suspend()
      : Promise.all([queue.clear(), forgetDrafts(() => true), forgetMessages()]);
    await Promise.all([mutations, cache.clear(), keepImagesOf(null)]);
  });
}

/** Ends the live connection, and deletes messages that were not sent. */
async function forgetMessages(): Promise<void> {
  await (await import("../live")).forgetLive(() => true);
}

/** Cache Storage exists only over HTTPS and on this machine; where it does not, nothing is cached. */
async function keepImagesOf(accountId: string | null): Promise<void> {
  if (globalThis.caches !== undefined) await setImageOwner(accountId);
}

/** Deletes these images from the image cache, in all sizes. */
export function evictImages(urls: readonly string[]): Promise<void> {
  return evictFolders(urls.map(imageCacheFolder));
}

/** These posts are gone, or no longer visible to the viewer: deletes what is cached of them. */
export async function forgetPosts(posts: readonly Post[]): Promise<void> {
  const keys = new Set(posts.flatMap(({ post_id }) => [`post:${post_id}`, `comments:${post_id}`]));
  await Promise.all([
    cache.remove((key) => keys.has(key)),
    evictImages(posts.flatMap(({ media }) => media.map(({ url }) => url))),
  ]);
}

/** The same, for those of a cached list of posts that turn out to be missing. */
export async function forgetMissing(key: string, isMissing: (post: Post) => boolean): Promise<void> {
  const cached = (await cache.get<readonly Post[]>(key)) ?? [];
  await forgetPosts(cached.filter(isMissing));
}

/** This account is gone, or no longer visible to the viewer: deletes what is cached of it. */
export async function forgetAccount(accountId: string): Promise<void> {
  await Promise.all([
    cache.remove((key, value) => key.startsWith("post:") && (value as Post).author.account_id === accountId),
    evictFolders([`/media/${accountId}/`]),
  ]);
}

async function evictFolders(folders: readonly string[]): Promise<void> {
  if (folders.length === 0 || globalThis.caches === undefined) return;
  const owner = await readOwner();
  if (owner === null) return;
  const images = await caches.open(imageCacheName(owner));
  const gone = (await images.keys())
    .map(({ url }) => new URL(url).pathname)
    .filter((path) => folders.some((folder) => path.startsWith(folder)));
  await Promise.all(gone.map((path) => images.delete(path, { ignoreVary: true })));
}

/** Sets whose data this device holds; other accounts' data is deleted. */
export async function setOwner(accountId: string): Promise<void> {
  await language.loadNamespaces("offline");
  await inTurn(() =>
    Promise.all([
      queue.setOwner(accountId),
      cache.setOwner(accountId),
      keepImagesOf(accountId),
      forgetDrafts((owner) => owner !== accountId),
    ]),
  );
}

const rejectionMessages = {
  like: "offline.likeRefused",
  save: "offline.saveRefused",
  follow: "offline.followRefused",
  comment: "offline.commentRefused",
  commentLike: "offline.commentLikeRefused",
} as const satisfies Record<MutationKind, string>;

async function showRejection(kind: MutationKind, problem: Problem): Promise<void> {
  await language.loadNamespaces("offline");
  toasts.error(t(rejectionMessages[kind], { reason: errorMessage(problem) }));
}

channel?.addEventListener("message", ({ data }: MessageEvent<SettledMessage | null>) => {
  void queue.read();
  if (data === null) return;
  const problem = data.problem && new Problem(data.problem);
  for (const listener of listeners) listener(data.wish, data.answer, problem);
});
addEventListener("online", () => void queue.drain());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && queue.entries.length > 0) void queue.drain();
});
