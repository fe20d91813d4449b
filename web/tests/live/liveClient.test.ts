/** The live connection against a broker that breaks: faked are the socket, `fetch` and the clock, nothing between. */
import "u8-mqtt/esm/web/basic-v4.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { send } from "../../src/client";
import { LiveClient } from "../../src/live/liveClient";
import { type Credentials, openConnection } from "../../src/live/mqttConnection";
import { MqttLink } from "../../src/live/mqttLink";
import type { SyncPage } from "../../src/live/updateLog";
import { FakeBroker } from "./fakeBroker";
import { FakeSite } from "./fakeSite";

let broker: FakeBroker;
let site: FakeSite;
let live: LiveClient;
let unread: number[];

beforeEach(async () => {
  vi.useFakeTimers();
  broker = new FakeBroker().install();
  site = new FakeSite(broker);
  unread = [];
  live = new LiveClient(async () => ({
    position: 0,
    readLog: (since) => send<SyncPage>("GET", "/sync", { query: { since } }),
    remember: () => {},
    openLink: (events) =>
      Object.assign(
        new MqttLink({
          ...events,
          getCredentials: () => send<Credentials>("POST", "/realtime/token"),
          connect: (credentials, onMessage) =>
            openConnection({ url: "ws://site.test/mqtt", credentials, device: "browser", onMessage }),
        }),
        { isLeader: true, share: () => {} },
      ),
  }));
  live.onUpdates(["notification"], ({ payload }) => unread.push(payload.unread_count));
});

afterEach(() => {
  live.stop();
  vi.useRealTimers();
});

async function goOnline(): Promise<void> {
  await live.start("7");
  await isOnline();
}

const isOnline = () => vi.waitFor(() => expect(live.state.value).toBe("online"), { timeout: 200_000 });
const notify = (unread_count: number, options = {}) => site.append("notification", { unread_count }, options);

describe("the live connection", () => {
  test("subscribes below its account at QoS 0, under the client id of its session", async () => {
    await goOnline();

    expect(broker.clientIds).toEqual(["7_1_browser"]);
    expect(broker.subscriptions).toEqual(["/u/7/# 0"]);
  });

  test("delivers what was logged before it connected, and what is pushed afterwards", async () => {
    notify(1, { isLost: true });
    await goOnline();
    notify(2);

    expect(unread).toEqual([1, 2]);
  });

  test("fills the gap when a push was lost, and drops what comes twice", async () => {
    await goOnline();
    notify(1, { isLost: true });
    notify(2);
    broker.publish("updates", site.updates[1]);

    await vi.waitFor(() => expect(unread).toEqual([1, 2]));
  });

  test("finds a push that was lost, though nothing else happens", async () => {
    await goOnline();
    notify(1, { isLost: true });
    await vi.advanceTimersByTimeAsync(6 * 60_000);

    expect(unread).toEqual([1]);
  });

  test("connects again with a new token, and has missed nothing", async () => {
    await goOnline();
    broker.drop();
    expect(live.state.value).toBe("online");
    await vi.waitFor(() => expect(live.state.value).toBe("offline"));
    notify(1);
    await isOnline();
    notify(2);

    expect(site.tokens).toBe(2);
    expect(unread).toEqual([1, 2]);
  });

  test("waits longer with every failure, and not at all once somebody is back", async () => {
    await goOnline();
    broker.isDown = true;
    broker.drop();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const attempts = site.tokens;
    expect(attempts).toBeGreaterThan(10);
    expect(attempts).toBeLessThan(40);

    broker.isDown = false;
    live.wake();
    await isOnline();
    expect(site.tokens).toBe(attempts + 1);
  });

  test("polls the log while the broker is away", async () => {
    await goOnline();
    broker.isDown = true;
    broker.drop();
    await vi.advanceTimersByTimeAsync(1_000);
    notify(1);
    await vi.advanceTimersByTimeAsync(90_000);

    expect(unread).toEqual([1]);
  });

  test("polls the log of a site without live connections, and never asks for a token again", async () => {
    site.hasRealtime = false;
    await live.start("7");
    await vi.waitFor(() => expect(live.state.value).toBe("offline"));
    notify(1);
    await vi.advanceTimersByTimeAsync(10 * 60_000);

    expect(unread).toEqual([1]);
    expect(site.count(/token/)).toBe(1);
    expect(broker.sockets).toEqual([]);
  });

  test("keeps the connection alive by pings", async () => {
    await goOnline();
    await vi.advanceTimersByTimeAsync(4 * 60_000);

    expect(broker.pings).toBeGreaterThan(2);
    expect(broker.sockets).toHaveLength(1);
  });

  test("gives up a connection that does not answer any more", async () => {
    await goOnline();
    broker.isDeaf = true;
    await vi.advanceTimersByTimeAsync(70_000);
    broker.isDeaf = false;
    await vi.advanceTimersByTimeAsync(30_000);
    await isOnline();

    expect(broker.sockets.length).toBeGreaterThan(1);
    expect(broker.open).toHaveLength(1);
  });

  test("passes signals on to those who asked for their topic", async () => {
    await goOnline();
    const typing = vi.fn();
    live.onSignal("typing", typing);
    broker.publish("typing", { thread_id: "3", account_id: "8", is_typing: true });
    broker.publish("feed", { post_id: "5" });

    expect(typing).toHaveBeenCalledExactlyOnceWith({ thread_id: "3", account_id: "8", is_typing: true });
  });

  test("says that everything is to be fetched where the log does not reach back", async () => {
    const reset = vi.fn();
    live.onReset(reset);
    for (let count = 0; count < 5; count += 1) notify(count, { isLost: true });
    site.oldest = 4;
    await goOnline();
    notify(9);

    expect(reset).toHaveBeenCalledOnce();
    expect(unread).toEqual([9]);
  });

  test("ends with the session: the socket is closed, and nothing is told any more", async () => {
    await goOnline();
    live.stop();
    notify(1);
    await vi.advanceTimersByTimeAsync(10 * 60_000);

    expect(live.state.value).toBe("off");
    expect(broker.open).toEqual([]);
    expect(broker.sockets).toHaveLength(1);
    expect(unread).toEqual([]);
  });

  test("does not begin where somebody signs out while it is being prepared", async () => {
    const starting = live.start("7");
    live.stop();
    await starting;
    await vi.advanceTimersByTimeAsync(60_000);

    expect(site.requests).toEqual([]);
  });
});

describe("commands", () => {
  const seen = { thread_id: "3", number: 9 };

  test("are answered over the connection, by their ids", async () => {
    await goOnline();
    broker.answer = ({ kind }) => ({ result: { said: kind } });

    expect(await Promise.all([live.command("ping", {}), live.command("typing", {})])).toEqual([
      { said: "ping" },
      { said: "typing" },
    ]);
    expect(new Set(broker.commands.map(({ id }) => id)).size).toBe(2);
  });

  test("are rejected as HTTP would reject them", async () => {
    await goOnline();
    broker.answer = () => ({ error: { code: "earlier_missing", detail: "Send the earlier one first." } });

    await expect(live.command("direct.send", seen)).rejects.toMatchObject({
      status: 409,
      code: "earlier_missing",
    });
  });

  test("go over HTTP under the same id where no reply comes", async () => {
    await goOnline();
    broker.answer = () => null;
    const reply = live.command("direct.send", { thread_id: "3", text: "Hello", counter: 1 }, "local");
    await vi.advanceTimersByTimeAsync(15_000);

    expect(await reply).toEqual({ message_id: "70", number: 1 });
    expect(broker.commands.map(({ id }) => id)).toEqual(["local", "local"]);
    expect(site.count(/^POST \/direct\/threads\/3\/messages$/)).toBe(1);
    expect(site.bodies).toEqual([{ text: "Hello", counter: 1, local_id: "local" }]);
  });

  test("go over HTTP at once when the connection breaks meanwhile", async () => {
    await goOnline();
    broker.answer = () => null;
    const reply = live.command("direct.seen", seen);
    broker.drop();
    await vi.waitFor(() => expect(site.count(/^PUT \/direct\/threads\/3\/seen$/)).toBe(1));
    await reply;
  });

  test("that are worth nothing later are refused without a connection", async () => {
    site.hasRealtime = false;
    await live.start("7");
    await vi.waitFor(() => expect(live.state.value).toBe("offline"));

    await expect(live.command("typing", {})).rejects.toMatchObject({ code: "offline" });
    live.hint("typing", {});
    expect(broker.commands).toEqual([]);
  });
});
