import { afterEach, describe, expect, test, vi } from "vitest";
import { becomeCalm } from "../../src/base/calm";
import { setPref } from "../../src/base/prefs.svelte";
import { offline } from "../../src/offline";
import { Feed } from "../../src/rooms/feed/feed.svelte";
import { waitAfter } from "../../src/rooms/feed/refresh";
import { stepFrom } from "../../src/rooms/feed/steps";
import { answer, problem } from "../client/answers";
import { samplePage, samplePost } from "./sample";

function ids(feed: Feed): string[] {
  return feed.posts.map(({ post_id }) => post_id);
}

afterEach(() => setPref("feed", "ranked"));

describe("the feed", () => {
  test("loads its first page once, however often it is asked", async () => {
    const fetched = answer({ body: samplePage([9, 8], "8") });
    const feed = new Feed();
    await Promise.all([feed.load(), feed.load()]);
    await feed.load();

    expect(ids(feed)).toEqual(["9", "8"]);
    expect(fetched).toHaveBeenCalledOnce();
  });

  test("says why it did not load, and loads on the next try", async () => {
    answer(problem(503, "unavailable"), { body: samplePage([1]) });
    const feed = new Feed();
    await feed.load();
    expect(feed.status).toBe("failed");
    await feed.load();
    expect(feed).toMatchObject({ status: "ready", failure: null });
  });

  test("goes on from its cursor and shows an overlapping post once", async () => {
    const fetched = answer({ body: samplePage([9, 8], "8") }, { body: samplePage([8, 7]) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();

    expect(ids(feed)).toEqual(["9", "8", "7"]);
    expect(feed.hasMore).toBe(false);
    expect(fetched.mock.calls[1]?.[0]).toContain("cursor=8");
  });

  test("keeps what it has when the next page fails", async () => {
    answer({ body: samplePage([9], "9") }, problem(500, "unknown"), { body: samplePage([8]) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();
    expect(feed).toMatchObject({ moreStatus: "failed", hasMore: true });
    await feed.loadMore();
    expect(ids(feed)).toEqual(["9", "8"]);
  });

  test("holds news back until it is asked for", async () => {
    setPref("feed", "following");
    answer({ body: samplePage([9, 8], "8") }, { body: samplePage([11, 10, 9], "9") });
    const feed = new Feed();
    await feed.load();
    expect(await feed.check()).toBe(true);
    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed.fresh).toHaveLength(2);
    feed.showFresh();

    expect(ids(feed)).toEqual(["11", "10", "9", "8"]);
    expect(feed.fresh).toHaveLength(0);
  });

  test("lets go of what the server no longer shows where it should stand", async () => {
    setPref("feed", "following");
    const page = (...numbers: number[]) => ({
      posts: numbers.map((id) => samplePost(id, { created_at: `2026-03-10T12:00:${id + 10}Z` })),
      next_cursor: "c",
      has_more: true,
    });
    answer({ body: page(9, 8, 7) }, { body: page(6, 5) }, { body: page(9, 7, 6) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();
    await feed.check();

    expect(ids(feed)).toEqual(["9", "7", "6", "5"]);
  });

  test("is empty once everybody in it is out of sight", async () => {
    answer({ body: samplePage([2, 1]) }, { body: samplePage([]) });
    const feed = new Feed();
    await feed.load();
    await feed.check();

    expect(feed.posts).toEqual([]);
  });

  test("starts anew when so much is new that a gap would show", async () => {
    answer({ body: samplePage([2, 1], "1") }, { body: samplePage([9, 8], "8") });
    const feed = new Feed();
    await feed.load();
    await feed.check();
    feed.showFresh();

    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed.hasMore).toBe(true);
  });

  test("starts anew in another order, and remembers the choice", async () => {
    const fetched = answer({ body: samplePage([9, 8]) }, { body: samplePage([8, 9]) });
    const feed = new Feed();
    await feed.load();
    await feed.turn("following");

    expect(ids(feed)).toEqual(["8", "9"]);
    expect(fetched.mock.calls.map(([path]) => new URLSearchParams(path.split("?")[1]).get("mode"))).toEqual([
      "ranked",
      "following",
    ]);
  });

  test("shows what was kept when the server cannot be reached, and gives way when it can", async () => {
    const kit = await offline.kit();
    await kit?.memory.belongTo("me");
    becomeCalm();
    answer({ body: samplePage([9, 8], "8") });
    await new Feed().load();
    await vi.waitFor(async () => expect(await offline.find("feed")).toHaveLength(2));

    answer(new TypeError("no network"), { body: samplePage([11, 9]) });
    const feed = new Feed();
    await feed.load();
    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed).toMatchObject({ isKept: true, hasMore: false });
    await feed.check();
    expect(ids(feed)).toEqual(["11", "9"]);
    expect(feed.isKept).toBe(false);
  });

  test("shows one's own post at once", async () => {
    answer({ body: samplePage([1]) });
    const feed = new Feed();
    await feed.load();
    feed.prepend(samplePost(2));
    expect(ids(feed)).toEqual(["2", "1"]);
  });

  test("drops an answer that arrives after somebody else has logged in", async () => {
    answer({ body: samplePage([1]) });
    const feed = new Feed();
    const late = feed.load();
    feed.reset();
    await late;
    expect(feed).toMatchObject({ status: "idle", posts: [] });
  });
});

test("looking for news becomes rarer while the server does not answer", () => {
  expect([0, 1, 2, 3, 10].map(waitAfter)).toEqual([60_000, 120_000, 240_000, 480_000, 960_000]);
});

describe("a step in the feed", () => {
  test("starts with the first post", () => {
    expect(stepFrom({ current: -1, top: 0, by: 1, length: 9, isAtStart: true })).toBe(0);
  });
  test("goes on from the post in hand", () => {
    expect(stepFrom({ current: 3, top: 3, by: 1, length: 9, isAtStart: false })).toBe(4);
    expect(stepFrom({ current: 3, top: 3, by: -1, length: 9, isAtStart: false })).toBe(2);
  });
  test("goes on from the screen when one has scrolled away", () => {
    expect(stepFrom({ current: 0, top: 20, by: 1, length: 40, isAtStart: false })).toBe(21);
  });
  test("stops at both ends", () => {
    expect(stepFrom({ current: 8, top: 8, by: 1, length: 9, isAtStart: false })).toBe(8);
    expect(stepFrom({ current: 0, top: 0, by: -1, length: 9, isAtStart: true })).toBe(0);
  });
});
