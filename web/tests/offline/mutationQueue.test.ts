/** The offline queue under injected failures: each mutation takes effect exactly once, or its rejection is reported. */
import { describe, expect, test, vi } from "vitest";
import { InMemoryObjectStore, type ObjectStore } from "../../src/base/indexedDb";
import { Problem } from "../../src/client";
import { MutationQueue, type QueueEntry } from "../../src/offline/mutationQueue.svelte";
import type { Comment, Mutation } from "../../src/offline/mutations";

const offline = new Problem({ status: 0, code: "offline" });
const like = (id: string, on = true): Mutation => ({ kind: "like", id, on });
const say = (text: string, key: string): Mutation => ({ kind: "comment", id: "1", text, replyTo: null, key });

/** A server as idempotent as ours: toggles set a value, comments are known by their key. */
class Server {
  readonly likes = new Set<string>();
  readonly comments = new Map<string, string>();
  readonly received: Mutation[] = [];
  /** What happens to the next requests: "lost" means done, but the response never arrived. */
  readonly faults: (Problem | "lost" | null)[] = [];
  asked = 0;
  pause: Promise<void> | null = null;

  readonly send = async (mutation: Mutation): Promise<Comment | null> => {
    this.asked += 1;
    await this.pause;
    const fault = this.faults.shift() ?? null;
    if (fault instanceof Problem) throw fault;
    this.received.push(mutation);
    if (mutation.kind === "comment") this.comments.set(mutation.key, mutation.text);
    else if (mutation.on) this.likes.add(mutation.id);
    else this.likes.delete(mutation.id);
    if (fault === "lost") throw new Problem({ status: 0, code: "timeout" });
    return null;
  };
}

let revisions = 0;
/** One lock for all tabs, as Web Locks are. */
function lock(): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    last = last.then(work, work);
    return last;
  };
}

async function tab(
  server: Server,
  store: ObjectStore<QueueEntry> = new InMemoryObjectStore<QueueEntry>(),
  withLock = lock(),
) {
  const settled = vi.fn<(mutation: Mutation, comment: Comment | null, problem: Problem | null) => void>();
  const retries: { delay_ms: number; then: () => void }[] = [];
  const queue = new MutationQueue({
    store,
    send: server.send,
    withLock,
    schedule: (delay_ms, then) => retries.push({ delay_ms, then }),
    newRevision: () => String(revisions++),
    onSettled: settled,
    onChanged: () => {},
  });
  await queue.setOwner("me");
  return { queue, store, settled, retries };
}

describe("the offline queue", () => {
  test("sends at once while there is a connection, and queues nothing", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    await queue.submit(like("7"));

    expect([...server.likes]).toEqual(["7"]);
    expect(queue.entries).toEqual([]);
  });

  test("queues what could not be sent and sends it on retry", async () => {
    const server = new Server();
    const { queue, retries, settled } = await tab(server);
    server.faults.push(offline, offline);
    expect(await queue.submit(say("Lovely light", "k1"))).toBeNull();
    await vi.waitFor(() => expect(retries).toHaveLength(1));
    expect(queue.entries).toHaveLength(1);

    retries[0]?.then();
    await vi.waitFor(() => expect(queue.entries).toHaveLength(0));
    expect([...server.comments.values()]).toEqual(["Lovely light"]);
    expect(settled).toHaveBeenCalledExactlyOnceWith(say("Lovely light", "k1"), null, null);
  });

  test("does not queue a rejection: the caller receives it", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    server.faults.push(new Problem({ status: 404, code: "post_not_found" }));

    await expect(queue.submit(like("7"))).rejects.toMatchObject({ code: "post_not_found" });
    expect(queue.entries).toEqual([]);
  });

  test("retries after a lost response, and the server counts it once", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    server.faults.push("lost", "lost");
    await queue.submit(say("Hello", "k1"));
    await queue.drain();
    await queue.drain();

    expect(server.received.length).toBeGreaterThan(1);
    expect(server.comments).toEqual(new Map([["k1", "Hello"]]));
    expect(queue.entries).toEqual([]);
  });

  test("sends only the last mutation of a thing", async () => {
    const server = new Server();
    const { queue } = await tab(server);
    await queue.enqueue(like("7"));
    await queue.enqueue(like("7", false));
    await queue.drain();

    expect(server.received).toEqual([like("7", false)]);
  });

  test("keeps a mutation that was queued while its predecessor was in flight", async () => {
    const server = new Server();
    const { queue, settled } = await tab(server);
    let go = (): void => {};
    server.pause = new Promise((resolve) => {
      go = resolve;
    });
    await queue.enqueue(like("7"));
    const draining = queue.drain();
    await vi.waitFor(() => expect(server.asked).toBe(1));
    await queue.enqueue(like("7", false));
    go();
    await draining;

    expect(server.received).toEqual([like("7"), like("7", false)]);
    expect(server.likes.size).toBe(0);
    expect(settled).toHaveBeenCalledExactlyOnceWith(like("7", false), null, null);
  });

  test("retries 5xx with backoff, and gives up on a server that always fails", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1); // No jitter.
    const server = new Server();
    const { queue, retries, settled } = await tab(server);
    await queue.enqueue(like("7"));
    for (let attempt = 0; attempt < 12; attempt++) {
      server.faults.push(new Problem({ status: 500, code: "unknown" }));
      await queue.drain();
    }

    expect(retries.slice(0, 4).map(({ delay_ms }) => delay_ms)).toEqual([4_000, 8_000, 16_000, 32_000]);
    expect(settled).toHaveBeenCalledOnce();
    expect(settled.mock.calls[0]?.[2]).toMatchObject({ status: 500 });
    expect(queue.entries).toEqual([]);
  });

  test("says so when a waiting wish is toProblem, and goes on with the next", async () => {
    const server = new Server();
    const { queue, settled } = await tab(server);
    await queue.enqueue(say("Again", "k1"));
    await queue.enqueue(like("8"));
    server.faults.push(new Problem({ status: 409, code: "comment_repeated" }));
    await queue.drain();

    expect(settled.mock.calls[0]?.[2]).toMatchObject({ code: "comment_repeated" });
    expect([...server.likes]).toEqual(["8"]);
  });

  test("continues after a reload, in order and without duplicates", async () => {
    const server = new Server();
    const first = await tab(server);
    await first.queue.enqueue(say("One", "k1"));
    await first.queue.enqueue(say("Two", "k2"));
    server.pause = new Promise(() => {}); // The page is gone before the answer.
    void first.queue.drain();
    await Promise.resolve();

    const reloaded = new Server();
    reloaded.comments.set("k1", "One"); // The first one had arrived.
    const { queue } = await tab(reloaded, first.store);
    await vi.waitFor(() => expect(queue.entries).toHaveLength(0));
    expect([...reloaded.comments.values()]).toEqual(["One", "Two"]);
    expect(reloaded.received.map((mutation) => mutation.kind === "comment" && mutation.key)).toEqual([
      "k1",
      "k2",
    ]);
  });

  test("is sent once by two tabs", async () => {
    const server = new Server();
    const withLock = lock();
    const one = await tab(server, undefined, withLock);
    const two = await tab(server, one.store, withLock);
    for (const id of ["1", "2", "3"]) await one.queue.enqueue(like(id));
    await Promise.all([one.queue.drain(), two.queue.drain(), two.queue.drain()]);

    expect(server.received).toHaveLength(3);
  });

  test("keeps entries while the session has expired, and never sends them as another account", async () => {
    const server = new Server();
    const { queue, store, settled } = await tab(server);
    await queue.enqueue(like("7"));
    server.faults.push(new Problem({ status: 401, code: "not_signed_in" }));
    await queue.drain();
    await queue.suspend();
    expect(queue.entries).toEqual([]);
    expect(settled).not.toHaveBeenCalled();
    expect(await store.all()).toHaveLength(1);

    await queue.setOwner("somebody else");
    expect(await store.all()).toEqual([]);
    expect(server.received).toEqual([]);
  });
});
