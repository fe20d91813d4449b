/**
 * Working without a connection. The shell knows only this door; what is behind it arrives after the first screen, and
 * where it does not arrive everything is simply asked of the server.
 */
import { calm } from "../base/calm";
import type { Listener } from "./kit.svelte";
import { type Comment, perform, type SettingKind, type Wish } from "./wishes";

export type { Listener } from "./kit.svelte";
export { type Comment, isUnreachable, type Kind, type Saying, type Wish } from "./wishes";

type Kit = typeof import("./kit.svelte");

let arriving: Promise<Kit | null> | null = null;
let arrived: Kit | null = null;

function kit(): Promise<Kit | null> {
  arriving ??= import("./kit.svelte").then(
    (found) => {
      arrived = found;
      return found;
    },
    () => null,
  );
  return arriving;
}

type Stop = () => void;

function begin(start: (found: Kit) => Stop): Stop {
  let isOver = false;
  let stop: Stop = () => {};
  void calm.then(kit).then((found) => {
    if (found !== null && !isOver) stop = start(found);
  });
  return () => {
    isOver = true;
    stop();
  };
}

export const offline = {
  kit,
  /** Met now, or kept until it can be (then the answer is null). Rejects when the server refuses. */
  async carry(wish: Wish): Promise<Comment | null> {
    const found = await kit();
    return found === null ? perform(wish) : found.queue.carry(wish);
  },
  /** How it shall be, while that wish waits; undefined when none does. */
  wished(kind: SettingKind, id: string): boolean | undefined {
    const wish = arrived?.queue.find(`${kind}:${id}`);
    return wish && wish.kind !== "comment" ? wish.on : undefined;
  },
  /** Hears what became of wishes that waited; returns how to stop. */
  listen: (listener: Listener): Stop => begin((found) => found.listen(listener)),
  /** Told what waits, now and whenever it changes; returns how to stop. */
  watch: (watcher: (waiting: readonly Wish[]) => void): Stop => begin((found) => found.watch(watcher)),
  keep: async (key: string, value: unknown): Promise<void> => (await calm.then(kit))?.memory.keep(key, value),
  find: async <T>(key: string): Promise<T | null> => (await kit())?.memory.find<T>(key) ?? null,
  /** Takes pictures off this device. */
  discard: async (addresses: readonly string[]): Promise<void> => (await kit())?.discard(addresses),
  belongTo: async (accountId: string): Promise<void> => (await calm.then(kit))?.belongTo(accountId),
  /** At sign-out everything goes. A session that ended by itself leaves the wishes of its owner, for when they return. */
  forget: async (options?: { keepsWishes: boolean }): Promise<void> => (await kit())?.forget(options),
} as const;
