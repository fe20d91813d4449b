/** The queue of messages under injected failures: every change takes effect once and in order, or is shown as failed. */
import { describe, expect, test, vi } from "vitest";
import { InMemoryObjectStore } from "../../src/base/indexedDb";
import { Problem } from "../../src/client";
import { ChangeSender, type StoredChange } from "../../src/live/changeSender";
import type { QueuedChange } from "../../src/live/contract";
import { DeviceCounters, type StoredDevice } from "../../src/live/deviceCounters";
import { MessageQueue, type QueueNews } from "../../src/live/messageQueue";
import { FakeThreads, OFFLINE } from "./fakeThreads";

const say = (text: string) => ({ kind: "send" as const, body: { text } });

/** A browser: what its tabs share. */
class Browser {
  readonly store = new InMemoryObjectStore<StoredChange>();
  readonly devices = new InMemoryObjectStore<StoredDevice>();
  readonly tabs: MessageQueue[] = [];
  uploads = 0;
  #ids = 0;
  #lock: Promise<void> = Promise.resolve();

  async open(server: FakeThreads, account = "me") {
    const retries: (() => void)[] = [];
    const queue: MessageQueue = new MessageQueue({
      store: this.store,
      sender: new ChangeSender({
        store: this.store,
        counters: new DeviceCounters({
          store: this.devices,
          newId: () => `device${this.#ids++}`,
          fetchCounter: server.fetchCounter,
        }),
        send: server.send,
        upload: async (file, _, onProgress) => {
          onProgress(0.5);
          this.uploads += 1;
          return `${file.name} ${this.uploads}`;
        },
      }),
      withLock: (work) => {
        this.#lock = this.#lock.then(work, work);
        return this.#lock;
      },
      schedule: (_, then) => retries.push(then),
      newId: () => `local${this.#ids++}`,
      now: () => 1_000,
      announce: (news: QueueNews) => {
        for (const tab of this.tabs) if (tab !== queue) void tab.hear(news);
      },
    });
    this.tabs.push(queue);
    await queue.setOwner(account);
    const shown = () => queue.of("t").value.map(({ change, status }) => `${text({ change })}: ${status}`);
    return { queue, retries, shown };
  }
}

function text({ change }: Pick<QueuedChange, "change">): unknown {
  return change.kind === "send" ? change.body["text"] : change.kind;
}

describe("the queue of messages", () => {
  test("sends in order, with counters from one", async () => {
    const server = new FakeThreads();
    const { queue, shown } = await new Browser().open(server);
    for (const each of ["a", "b", "c"]) await queue.enqueue("t", say(each));
    await queue.drain();

    expect(server.texts()).toEqual(["a", "b", "c"]);
    expect(server.accepted.map(({ payload }) => payload["counter"])).toEqual([1, 2, 3]);
    expect(shown()).toEqual(["a: sent", "b: sent", "c: sent"]);
  });

  test("shows a change at once, and forgets it when its message is shown", async () => {
    const server = new FakeThreads();
    server.isDown = true;
    const { queue, shown } = await new Browser().open(server);
    await queue.enqueue("t", say("a"));
    expect(shown()).toEqual(["a: pending"]);

    server.isDown = false;
    await queue.drain();
    expect(queue.of("t").value[0]).toMatchObject({ status: "sent", result: { message_id: "1", number: 1 } });
    queue.acknowledge(["1"]);
    expect(shown()).toEqual([]);
  });

  test("sends a lost response again, and the server has it once", async () => {
    const server = new FakeThreads();
    server.faults.push("lost", "lost");
    const { queue, retries } = await new Browser().open(server);
    await queue.enqueue("t", say("a"));
    await queue.drain();
    await queue.enqueue("t", say("b"));
    await queue.drain();

    expect(retries.length).toBeGreaterThan(0);
    expect(server.texts()).toEqual(["a", "b"]);
  });

  test("survives a tab that was killed before it knew that its message had arrived", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    server.faults.push("lost");
    const before = await browser.open(server);
    await before.queue.enqueue("t", say("a"));
    await before.queue.drain();
    await before.queue.enqueue("t", say("b"));

    const after = await browser.open(server);
    await after.queue.drain();
    expect(server.texts()).toEqual(["a", "b"]);
    expect(await browser.store.all()).toEqual([]);
  });

  test("does not let a later message overtake one that has to wait", async () => {
    const server = new FakeThreads();
    server.faults.push(new Problem({ status: 503, code: "unavailable" }));
    const { queue } = await new Browser().open(server);
    await Promise.all([queue.enqueue("t", say("a")), queue.enqueue("t", say("b"))]);
    await queue.drain();
    await queue.drain();

    expect(server.texts()).toEqual(["a", "b"]);
  });

  test("marks a refused message as failed, and gives its counter to the next", async () => {
    const server = new FakeThreads();
    server.refused.add("b");
    const { queue, shown } = await new Browser().open(server);
    for (const each of ["a", "b", "c"]) await queue.enqueue("t", say(each));
    await queue.drain();

    expect(server.texts()).toEqual(["a", "c"]);
    expect(server.accepted.map(({ payload }) => payload["counter"])).toEqual([1, 2]);
    expect(shown()).toEqual(["a: sent", "b: failed", "c: sent"]);
    expect(queue.of("t").value[1]?.problem).toMatchObject({ code: "may_not_write" });
  });

  test("sends a failed message again as the newest, or forgets it", async () => {
    const server = new FakeThreads();
    server.refused.add("a").add("b");
    const { queue, shown } = await new Browser().open(server);
    const [a, b] = [await queue.enqueue("t", say("a")), await queue.enqueue("t", say("b"))];
    await queue.drain();
    expect(shown()).toEqual(["a: failed", "b: failed"]);

    server.refused.clear();
    await queue.enqueue("t", say("c"));
    await queue.retry(a.localId);
    await queue.discard(b.localId);
    await queue.drain();
    expect(server.texts()).toEqual(["c", "a"]);
    expect(shown()).toEqual(["c: sent", "a: sent"]);
  });

  test("gives up on a message that breaks the server, and goes on with the next", async () => {
    const server = new FakeThreads();
    server.faults.push(...Array.from({ length: 12 }, () => new Problem({ status: 500, code: "internal" })));
    const { queue, shown } = await new Browser().open(server);
    await queue.enqueue("t", say("a"));
    for (let attempt = 0; attempt < 12; attempt += 1) await queue.drain();
    await queue.enqueue("t", say("b"));
    await queue.drain();

    expect(shown()).toEqual(["a: failed", "b: sent"]);
  });

  test("asks how far the device has come when the counters do not agree", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    const { queue } = await browser.open(server);
    await queue.enqueue("t", say("a"));
    await queue.drain();
    await browser.devices.update("me", (device) => ({ ...device, counters: {} }));
    await queue.enqueue("t", say("b")); // counter_used
    await queue.drain();
    await browser.devices.update("me", (device) => ({ ...device, counters: { t: 40 } }));
    await queue.enqueue("t", say("c")); // earlier_missing
    await queue.drain();

    expect(server.texts()).toEqual(["a", "b", "c"]);
    expect(server.accepted.map(({ payload }) => payload["counter"])).toEqual([1, 2, 3]);
  });

  test("becomes a new device where what it stored is gone", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    const { queue } = await browser.open(server);
    await queue.enqueue("t", say("a"));
    await queue.drain();
    await browser.devices.clear();
    await queue.enqueue("t", say("b"));
    await queue.drain();

    const devices = server.accepted.map(({ payload }) => payload["device_id"]);
    expect(new Set(devices).size).toBe(2);
    expect(server.accepted.map(({ payload }) => payload["counter"])).toEqual([1, 1]);
  });

  test("does not hold up a thread for another one", async () => {
    const server = new FakeThreads();
    server.faults.push(new Problem({ status: 503, code: "unavailable" }));
    const { queue } = await new Browser().open(server);
    await Promise.all([queue.enqueue("s", say("stuck")), queue.enqueue("t", say("free"))]);
    await vi.waitFor(() => expect(server.texts()).toEqual(["free"]));
  });

  test("is sent once by two tabs, and both show it", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    const [one, two] = [await browser.open(server), await browser.open(server)];
    await one.queue.enqueue("t", say("a"));
    await two.queue.enqueue("t", say("b"));
    await Promise.all([one.queue.drain(), two.queue.drain()]);

    expect(server.texts()).toEqual(["a", "b"]);
    await vi.waitFor(() => expect([one.shown(), two.shown()]).toEqual([[...one.shown()], [...one.shown()]]));
  });

  test("is taken over by another tab when the one that queued it is gone", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    const [one, two] = [await browser.open(server), await browser.open(server)];
    server.isDown = true;
    await one.queue.enqueue("t", say("a"));
    await vi.waitFor(() => expect(two.retries.length).toBeGreaterThan(0));

    server.isDown = false;
    for (const then of two.retries) then();
    await vi.waitFor(() => expect(server.texts()).toEqual(["a"]));
  });

  test("uploads a file first, once, and sends what it became", async () => {
    const server = new FakeThreads();
    server.faults.push(OFFLINE);
    const { queue } = await new Browser().open(server);
    const progress: (number | null | undefined)[] = [];
    queue.of("t").subscribe((changes) => progress.push(changes[0]?.progress));
    await queue.enqueue("t", { kind: "send", body: { text: "" }, file: new File(["x"], "cat.jpg") });
    await queue.drain();
    await queue.drain();

    expect(server.accepted[0]?.payload).toMatchObject({ media_id: "cat.jpg 1" });
    expect(progress).toContain(0.5);
  });

  test("uploads a file again that the server has not kept", async () => {
    const server = new FakeThreads();
    server.faults.push(OFFLINE, new Problem({ status: 400, code: "message_media_invalid" }));
    const { queue, shown } = await new Browser().open(server);
    await queue.enqueue("t", { kind: "send", body: { text: "" }, file: new File(["x"], "cat.jpg") });
    for (let attempt = 0; attempt < 3; attempt += 1) await queue.drain();

    expect(server.accepted[0]?.payload).toMatchObject({ media_id: "cat.jpg 2" });
    expect(shown()).toEqual([": sent"]);
  });

  test("waits for its owner where somebody writes before the page knows who they are", async () => {
    const server = new FakeThreads();
    const { queue } = await new Browser().open(server);
    await queue.suspend();
    const queued = queue.enqueue("t", say("a"));
    await queue.setOwner("me");
    await queued;
    await queue.drain();

    expect(server.texts()).toEqual(["a"]);
  });

  test("keeps what was written while the session has expired, and never sends it as another account", async () => {
    const server = new FakeThreads();
    const browser = new Browser();
    server.faults.push(new Problem({ status: 401, code: "not_signed_in" }));
    const { queue, shown } = await browser.open(server);
    await queue.enqueue("t", say("a"));
    await queue.drain();
    await queue.suspend();
    expect(shown()).toEqual([]);

    await queue.setOwner("me");
    await queue.drain();
    expect(server.texts()).toEqual(["a"]);

    server.isDown = true;
    await queue.enqueue("t", say("b"));
    await queue.drain();
    await queue.setOwner("somebody else");
    server.isDown = false;
    await queue.drain();
    expect(server.texts()).toEqual(["a"]);
    expect(await browser.store.all()).toEqual([]);
  });

  test("carries edits, reactions and unsending in the same order", async () => {
    const server = new FakeThreads();
    const { queue } = await new Browser().open(server);
    await queue.enqueue("t", say("a"));
    await queue.enqueue("t", { kind: "react", body: { message_id: "1", emoji: "❤️" } });
    await queue.enqueue("t", { kind: "edit", body: { message_id: "1", text: "b" } });
    await queue.enqueue("t", { kind: "unsend", body: { message_id: "1" } });
    await queue.drain();

    const kinds = ["direct.send", "direct.react", "direct.edit", "direct.unsend"];
    expect(server.accepted.map(({ kind }) => kind)).toEqual(kinds);
    expect(queue.of("t").value.map(({ status }) => status)).toEqual(["sent"]);
  });
});
