/** The tabs of a browser share one connection: whoever holds the lock has it. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LinkEvents, LinkState } from "../../src/live/link";
import { SharedLink } from "../../src/live/sharedLink";
import { FakeLocks } from "./fakeLocks";

/** The connections to the broker that exist, each with what was published on it. */
let connections: { events: LinkEvents; published: string[]; wakes: number }[];
let tabs: SharedLink[];

beforeEach(() => {
  connections = [];
  tabs = [];
  vi.stubGlobal("navigator", Object.create(navigator, { locks: { value: new FakeLocks() } }));
});

afterEach(() => {
  for (const tab of tabs) tab.close();
  vi.useRealTimers();
});

function openTab(name = "tintype.live.7") {
  const states: LinkState[] = [];
  const heard: string[] = [];
  const link = new SharedLink({
    name,
    onState: (state) => states.push(state),
    onMessage: (leaf, content) => heard.push(`${leaf} ${JSON.stringify(content)}`),
    connect: (events) => {
      const connection = { events, published: [] as string[], wakes: 0 };
      connections.push(connection);
      events.onState("online");
      return {
        publish: (body) => connection.published.push(body),
        wake: () => {
          connection.wakes += 1;
        },
        close: () => connections.splice(connections.indexOf(connection), 1),
      };
    },
  });
  tabs.push(link);
  return { link, states, heard };
}

describe("tabs", () => {
  test("have one connection between them, and all know how it stands", async () => {
    const leader = openTab();
    await vi.waitFor(() => expect(leader.link.isLeader).toBe(true));
    const follower = openTab();

    await vi.waitFor(() => expect(follower.states.at(-1)).toBe("online"));
    expect(connections).toHaveLength(1);
    expect(follower.link.isLeader).toBe(false);
  });

  test("of different accounts have connections of their own", async () => {
    openTab("tintype.live.7");
    openTab("tintype.live.8");

    await vi.waitFor(() => expect(connections).toHaveLength(2));
  });

  test("hear what the leader shares, and publish through it", async () => {
    const leader = openTab();
    await vi.waitFor(() => expect(leader.link.isLeader).toBe(true));
    const follower = openTab();
    await vi.waitFor(() => expect(follower.states.at(-1)).toBe("online"));
    leader.link.share("updates", { seq: 1 });
    follower.link.share("updates", { seq: 9 });
    follower.link.publish("a command");

    await vi.waitFor(() => expect(follower.heard).toEqual(['updates {"seq":1}']));
    await vi.waitFor(() => expect(connections[0]?.published).toEqual(["a command"]));
    expect(leader.heard).toEqual([]);
  });

  test("take over when the leader is closed", async () => {
    const leader = openTab();
    await vi.waitFor(() => expect(leader.link.isLeader).toBe(true));
    const follower = openTab();
    leader.link.close();

    await vi.waitFor(() => expect(follower.link.isLeader).toBe(true));
    expect(connections).toHaveLength(1);
  });

  test("take over from a leader that is suspended and does not answer", async () => {
    const suspended = openTab();
    await vi.waitFor(() => expect(suspended.link.isLeader).toBe(true));
    vi.useFakeTimers();
    // Its script does not run: what the other tab tells it is lost.
    const asleep = vi.spyOn(BroadcastChannel.prototype, "postMessage").mockImplementation(() => {});
    const visible = openTab();
    await vi.advanceTimersByTimeAsync(10_000);
    asleep.mockRestore();

    expect(visible.link.isLeader).toBe(true);
    expect(suspended.link.isLeader).toBe(false);
    expect(connections).toHaveLength(1);
  });

  test("that are closed hold nothing up", async () => {
    const leader = openTab();
    await vi.waitFor(() => expect(leader.link.isLeader).toBe(true));
    const [closed, next] = [openTab(), openTab()];
    closed.link.close();
    leader.link.close();

    await vi.waitFor(() => expect(next.link.isLeader).toBe(true));
    expect(closed.link.isLeader).toBe(false);
  });
});
