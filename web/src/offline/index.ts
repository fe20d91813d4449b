/**
 * Offline support. The rooms import only this module; the queue and the cache behind it load after the first paint, and
 * where they fail to load every request simply goes to the server.
 */
import { firstPaint } from "../base/afterFirstPaint";
import type { Post } from "../client";
import { type Comment, type Mutation, sendMutation, type ToggleKind } from "./mutations";
import type { SettledListener } from "./runtime.svelte";

export { classifyFailure, isUnreachable } from "../client/problem";
export type { CommentMutation, Mutation } from "./mutations";

type Runtime = typeof import("./runtime.svelte");

let loading: Promise<Runtime | null> | null = null;
let loaded: Runtime | null = null;

/** The queue and the cache; null when their chunk could not be loaded. */
function runtime(): Promise<Runtime | null> {
  loading ??= import("./runtime.svelte").then(
    (module) => {
      loaded = module;
      return module;
    },
    () => null,
  );
  return loading;
}

type Unsubscribe = () => void;

/** Subscribes once the runtime has loaded, unless the returned function was called before. */
function subscribeLater(subscribe: (found: Runtime) => Unsubscribe): Unsubscribe {
  let isCancelled = false;
  let unsubscribe: Unsubscribe = () => {};
  void firstPaint.then(runtime).then((found) => {
    if (found !== null && !isCancelled) unsubscribe = subscribe(found);
  });
  return () => {
    isCancelled = true;
    unsubscribe();
  };
}

export const offline = {
  runtime,
  /** Sends the mutation now, or queues it when the server is unreachable (then resolves to null). Rejects when the server does. */
  async submit(mutation: Mutation): Promise<Comment | null> {
    const found = await runtime();
    return found === null ? sendMutation(mutation) : found.queue.submit(mutation);
  },
  /** The value that a queued mutation will set; undefined when none is queued. */
  pendingValue(kind: ToggleKind, id: string): boolean | undefined {
    const mutation = loaded?.queue.find(`${kind}:${id}`);
    return mutation && mutation.kind !== "comment" ? mutation.on : undefined;
  },
  /** Calls back with the outcome of each queued mutation. Returns a function that unsubscribes. */
  onSettled: (listener: SettledListener): Unsubscribe => subscribeLater((found) => found.onSettled(listener)),
  /** Calls back with the queued mutations now and whenever they change. Returns a function that unsubscribes. */
  watchPending: (watcher: (pending: readonly Mutation[]) => void): Unsubscribe =>
    subscribeLater((found) => found.watchPending(watcher)),
  /** Caches a response for reading offline. */
  store: async (key: string, value: unknown): Promise<void> =>
    (await firstPaint.then(runtime))?.cache.put(key, value),
  /** Reads a cached response, or null. */
  read: async <T>(key: string): Promise<T | null> => (await runtime())?.cache.get<T>(key) ?? null,
  /** Deletes images from this device's image cache, in all sizes. */
  evictImages: async (urls: readonly string[]): Promise<void> => (await runtime())?.evictImages(urls),
  /** Deletes what this device holds of posts that are gone or no longer visible to the viewer. */
  forgetPosts: async (posts: readonly Post[]): Promise<void> => (await runtime())?.forgetPosts(posts),
  /** The same, for those of a cached list of posts that turn out to be missing. After the first paint. */
  forgetMissing: async (key: string, isMissing: (post: Post) => boolean): Promise<void> =>
    (await firstPaint.then(runtime))?.forgetMissing(key, isMissing),
  /** Deletes what this device holds of an account that is gone or no longer visible to the viewer. */
  forgetAccount: async (accountId: string): Promise<void> => (await runtime())?.forgetAccount(accountId),
  setOwner: async (accountId: string): Promise<void> => (await firstPaint.then(runtime))?.setOwner(accountId),
  /** Deletes everything at sign-out. A session that expired keeps its owner's queue for when they sign in again. */
  clear: async (options?: { keepMutations: boolean }): Promise<void> => (await runtime())?.clear(options),
  /** Nobody is signed in: deletes what a session that ended while the app was closed has left. After the first paint. */
  clearForGuest: async (): Promise<void> => (await firstPaint.then(runtime))?.clear({ keepMutations: true }),
} as const;
