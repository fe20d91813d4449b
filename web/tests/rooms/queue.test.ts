/** The offline queue under injected failures: each wish reaches the server's books once, or is given back honestly. */
import { describe, expect, test, vi } from "vitest";
import { type Drawer, MemoryDrawer } from "../../src/base/store";
import { Problem } from "../../src/client";
import { type Entry, Queue } from "../../src/offline/queue.svelte";
import type { Comment, Wish } from "../../src/offline/wishes";

const offline = new Problem({ status: 0, code: "offline" });
const like = (id: string, on = true): Wish => ({ kind: "like", id, on });
const say = (text: string, key: string): Wish => ({ kind: "comment", id: "1", text, replyTo: null, key });

/** A server that keeps books the way ours does: absolute wishes, comments known by their key. */
class Server {
  readonly likes = new Set<string>();
  readonly comments = new Map<string, string>();
  readonly heard: Wish[] = [];
  /** What happens to the next requests: "lost" means that it was done and the answer never arrived. */
  readonly mishaps: (Problem | "lost" | null)[] = [];
  asked = 0;
  pause: Promise<void> | null = null;

  readonly perform = async (wish: Wish): Promise<Comment | null> => {
    this.asked += 1;
    await this.pause;
    const mishap = this.mishaps.shift() ?? null;
    if (mishap instanceof Problem) throw mishap;
    this.heard.push(wish);
    if (wish.kind === "comment") this.comments.set(wish.key, wish.text);
    else if (wish.on) this.likes.add(wish.id);
    else this.likes.delete(wish.id);
    if (mishap === "lost") throw new Problem({ status: 0, code: "timeout" });
    return null;
  };
}

let drawn = 0;
/** One lock for all tabs, as Web Locks are. */
function lock(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    last = last.then(work, work);
    return last;
  };
}

async function tab(server: Server, drawer: Drawer<Entry> = new MemoryDrawer<Entry>(), alone = lock()) {
  const settled = vi.fn<(wish: Wish, answer: Comment | null, problem: Problem | null) => void>();
  const pauses: { pause_ms: number; then: () => void }[] = [];
  const queue = new Queue({
    drawer,
    perform: server.perform,
    alone,
    later: (pause_ms, then) => pauses.push({ pause_ms, then }),
    draw: () => String(drawn++),
    settled,
    changed: () => {},
  });
  await queue.belongTo("me");
  return { queue, drawer, settled, pauses };
}

describe("the offline queue", () => {
  test("sends at once while there is a connection, and keeps nothing", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    await queue.carry(like("7"));

    expect([...server.likes]).toEqual(["7"]);
    expect(queue.entries).toEqual([]);
  });

  test("keeps what could not be sent and sends it when asked again", async () => {
    const server = new Server();
    const { queue, pauses, settled } = await tab(server);
    server.mishaps.push(offline, offline);
    expect(await queue.carry(say("Lovely light", "k1"))).toBeNull();
    await vi.waitFor(() => expect(pauses).toHaveLength(1));
    expect(queue.entries).toHaveLength(1);

    pauses[0]?.then();
    await vi.waitFor(() => expect(queue.entries).toHaveLength(0));
    expect([...server.comments.values()]).toEqual(["Lovely light"]);
    expect(settled).toHaveBeenCalledExactlyOnceWith(say("Lovely light", "k1"), null, null);
  });

  test("tells a refusal apart: it is not kept, the caller hears it", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    server.mishaps.push(new Problem({ status: 404, code: "post_not_found" }));

    await expect(queue.carry(like("7"))).rejects.toMatchObject({ code: "post_not_found" });
    expect(queue.entries).toEqual([]);
  });

  test("repeats after a lost answer, and the server counts it once", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    server.mishaps.push("lost", "lost");
    await queue.carry(say("Hello", "k1"));
    await queue.drain();
    await queue.drain();

    expect(server.heard.length).toBeGreaterThan(1);
    expect(server.comments).toEqual(new Map([["k1", "Hello"]]));
    expect(queue.entries).toEqual([]);
  });

  test("lets the last wish about a thing win", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    await queue.add(like("7"));
    await queue.add(like("7", false));
    await queue.drain();

    expect(server.heard).toEqual([like("7", false)]);
  });

  test("keeps a wish changed while its predecessor was on the way", async () => {
    const server = new Server();
    const { queue, settled } = await tab(server);
    let go = (): void => {};
    server.pause = new Promise((resolve) => {
      go = resolve;
    });
    await queue.add(like("7"));
    const draining = queue.drain();
    await vi.waitFor(() => expect(server.asked).toBe(1));
    await queue.add(like("7", false));
    go();
    await draining;

    expect(server.heard).toEqual([like("7"), like("7", false)]);
    expect(server.likes.size).toBe(0);
    expect(settled).toHaveBeenCalledExactlyOnceWith(like("7", false), null, null);
  });

  test("waits through 5xx, more and more patiently, and gives up on a server that always fails", async () => {
    const server = new Server();
    const { queue, pauses, settled } = await tab(server);
    await queue.add(like("7"));
    for (let attempt = 0; attempt < 12; attempt++) {
      server.mishaps.push(new Problem({ status: 500, code: "unknown" }));
      await queue.drain();
    }

    expect(pauses.slice(0, 4).map(({ pause_ms }) => pause_ms)).toEqual([4_000, 8_000, 16_000, 32_000]);
    expect(settled).toHaveBeenCalledOnce();
    expect(settled.mock.calls[0]?.[2]).toMatchObject({ status: 500 });
    expect(queue.entries).toEqual([]);
  });

  test("says so when a waiting wish is refused, and goes on with the next", async () => {
    const server = new Server();
    const { queue, settled } = await tab(server);
    await queue.add(say("Again", "k1"));
    await queue.add(like("8"));
    server.mishaps.push(new Problem({ status: 409, code: "comment_repeated" }));
    await queue.drain();

    expect(settled.mock.calls[0]?.[2]).toMatchObject({ code: "comment_repeated" });
    expect([...server.likes]).toEqual(["8"]);
  });

  test("goes on after a reload in the middle, in order and without doubles", async () => {
    const server = new Server();
    const first = await tab(server);
    await first.queue.add(say("One", "k1"));
    await first.queue.add(say("Two", "k2"));
    server.pause = new Promise(() => {}); // The page is gone before the answer.
    void first.queue.drain();
    await Promise.resolve();

    const reborn = new Server();
    reborn.comments.set("k1", "One"); // The first one had arrived.
    const { queue } = await tab(reborn, first.drawer);
    await vi.waitFor(() => expect(queue.entries).toHaveLength(0));
    expect([...reborn.comments.values()]).toEqual(["One", "Two"]);
    expect(reborn.heard.map((wish) => wish.kind === "comment" && wish.key)).toEqual(["k1", "k2"]);
  });

  test("is emptied once by two tabs", async () => {
    const server = new Server();
    const alone = lock();
    const one = await tab(server, undefined, alone);
    const two = await tab(server, one.drawer, alone);
    for (const id of ["1", "2", "3"]) await one.queue.add(like(id));
    await Promise.all([one.queue.drain(), two.queue.drain(), two.queue.drain()]);

    expect(server.heard).toHaveLength(3);
  });

  test("waits for its owner when the session has ended, and never goes out under another name", async () => {
    const server = new Server();
    const { queue, drawer, settled } = await tab(server);
    await queue.add(like("7"));
    server.mishaps.push(new Problem({ status: 401, code: "not_signed_in" }));
    await queue.drain();
    await queue.rest();
    expect(queue.entries).toEqual([]);
    expect(settled).not.toHaveBeenCalled();
    expect(await drawer.all()).toHaveLength(1);

    await queue.belongTo("somebody else");
    expect(await drawer.all()).toEqual([]);
    expect(server.heard).toEqual([]);
  });
});
