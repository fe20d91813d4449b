/** Connects the mutation queue and the offline cache to the browser: storage, the lock across tabs, messages between tabs. */
import { language, t } from "../base/i18n";
import { IMAGE_CACHE, imageCacheKey } from "../base/imageCache";
import { openObjectStore } from "../base/indexedDb";
import { randomId } from "../base/random";
import { Problem } from "../client";
import { errorMessage, toasts } from "../ui";
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

export const cache = new OfflineCache();
export const queue = new MutationQueue({
  store: openObjectStore<QueueEntry>("queue"),
  send: sendMutation,
  withLock,
  schedule,
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

/** Deletes the cached images and responses, and the queue unless `keepMutations`. */
export async function clear({ keepMutations = false } = {}): Promise<void> {
  const mutations = keepMutations ? queue.suspend() : queue.clear();
  await Promise.all([mutations, cache.clear(), globalThis.caches?.delete(IMAGE_CACHE)]);
}

/** Deletes these images from the image cache. */
export async function evictImages(urls: readonly string[]): Promise<void> {
  if (urls.length === 0 || globalThis.caches === undefined) return;
  const images = await caches.open(IMAGE_CACHE);
  await Promise.all(urls.map((url) => images.delete(imageCacheKey(url), { ignoreVary: true })));
}

/** Sets whose data this device holds; other accounts' data is deleted. */
export async function setOwner(accountId: string): Promise<void> {
  await language.loadNamespaces("offline");
  await Promise.all([queue.setOwner(accountId), cache.setOwner(accountId)]);
}

/** Web Locks exist only over HTTPS. Without them two tabs may send the same mutation, which the server counts once. */
async function withLock(work: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return work();
  await navigator.locks.request("tintype.queue", work);
}

let timer: ReturnType<typeof setTimeout> | undefined;
function schedule(delay_ms: number, then: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(then, delay_ms);
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
