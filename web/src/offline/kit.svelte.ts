/** The queue and the memory joined to the browser: storage, the lock across tabs, and news between them. */
import { language, t } from "../base/i18n";
import { PICTURES, pictureKey } from "../base/pictures";
import { randomId } from "../base/random";
import { openDrawer } from "../base/store";
import { Problem } from "../client";
import { explain, toasts } from "../ui";
import { Memory } from "./memory";
import { type Entry, Queue } from "./queue.svelte";
import { type Comment, type Kind, perform, type Wish } from "./wishes";

/** Rooms put on screen what became of a wish: `problem` is null when it was met. */
export type Listener = (wish: Wish, answer: Comment | null, problem: Problem | null) => void;

interface Told {
  readonly wish: Wish;
  readonly answer: Comment | null;
  readonly problem: { status: number; code: string; detail: string } | null;
}

const listeners = new Set<Listener>();
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("tintype.queue") : null;

export const memory = new Memory();
export const queue = new Queue({
  drawer: openDrawer<Entry>("queue"),
  perform,
  alone,
  later,
  draw: randomId,
  settled: (wish, answer, problem) => {
    for (const listener of listeners) listener(wish, answer, problem);
    if (problem !== null) void apologise(wish.kind, problem);
    const facts = problem && { status: problem.status, code: problem.code, detail: problem.detail };
    channel?.postMessage({ wish, answer, problem: facts } satisfies Told);
  },
  changed: () => channel?.postMessage(null),
});

/** Hears about every wish that was settled after waiting, in this tab or another. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Told what waits, now and whenever it changes. */
export function watch(watcher: (waiting: readonly Wish[]) => void): () => void {
  return $effect.root(() => {
    $effect(() => watcher(queue.entries.map(({ wish }) => wish)));
  });
}

/** Pictures, posts and wishes of the account that left are gone from this device. */
export async function forget({ keepsWishes = false } = {}): Promise<void> {
  const wishes = keepsWishes ? queue.rest() : queue.forget();
  await Promise.all([wishes, memory.forget(), globalThis.caches?.delete(PICTURES)]);
}

/** These pictures are gone from this device. */
export async function discard(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0 || globalThis.caches === undefined) return;
  const pictures = await caches.open(PICTURES);
  await Promise.all(addresses.map((address) => pictures.delete(pictureKey(address), { ignoreVary: true })));
}

export async function belongTo(accountId: string): Promise<void> {
  await language.need("offline");
  await Promise.all([queue.belongTo(accountId), memory.belongTo(accountId)]);
}

/** Web Locks exist over HTTPS only. Without them two tabs may both send a wish, which the server counts once. */
async function alone(work: () => Promise<void>): Promise<void> {
  if (!navigator.locks) return work();
  await navigator.locks.request("tintype.queue", work);
}

let timer: ReturnType<typeof setTimeout> | undefined;
function later(pause_ms: number, then: () => void): void {
  clearTimeout(timer);
  timer = setTimeout(then, pause_ms);
}

const apologies = {
  like: "offline.likeRefused",
  save: "offline.saveRefused",
  follow: "offline.followRefused",
  comment: "offline.commentRefused",
  commentLike: "offline.commentLikeRefused",
} as const satisfies Record<Kind, string>;

async function apologise(kind: Kind, problem: Problem): Promise<void> {
  await language.need("offline");
  toasts.fail(t(apologies[kind], { reason: explain(problem) }));
}

channel?.addEventListener("message", ({ data }: MessageEvent<Told | null>) => {
  void queue.read();
  if (data === null) return;
  const problem = data.problem && new Problem(data.problem);
  for (const listener of listeners) listener(data.wish, data.answer, problem);
});
addEventListener("online", () => void queue.drain());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && queue.entries.length > 0) void queue.drain();
});
