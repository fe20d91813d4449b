import { afterEach, describe, expect, test, vi } from "vitest";
import { markFirstPaint } from "../../src/base/afterFirstPaint";
import { setPref } from "../../src/base/prefs.svelte";
import type { Post } from "../../src/client";
import { offline } from "../../src/offline";
import { Feed } from "../../src/rooms/feed/feed.svelte";
import { nextArticle } from "../../src/rooms/feed/keyboardStep";
import { spread } from "../../src/rooms/feed/spread";
import { problem, respondWith } from "../client/fakeFetch";
import { samplePage, samplePost } from "./samplePosts";

function ids(feed: Feed): string[] {
  return feed.posts.map(({ post_id }) => post_id);
}

afterEach(() => setPref("feed", "ranked"));

describe("the feed", () => {
  test("loads its first page once, however often it is asked", async () => {
    const fetched = respondWith({ body: samplePage([9, 8], "8") });
    const feed = new Feed();
    await Promise.all([feed.load(), feed.load()]);
    await feed.load();

    expect(ids(feed)).toEqual(["9", "8"]);
    expect(fetched).toHaveBeenCalledOnce();
  });

  test("reports a failed load, and loads on retry", async () => {
    respondWith(problem(503, "unavailable"), { body: samplePage([1]) });
    const feed = new Feed();
    await feed.load();
    expect(feed.status).toBe("failed");
    await feed.load();
    expect(feed).toMatchObject({ status: "ready", failure: null });
  });

  test("continues at its cursor and shows an overlapping post once", async () => {
    const fetched = respondWith({ body: samplePage([9, 8], "8") }, { body: samplePage([8, 7]) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();

    expect(ids(feed)).toEqual(["9", "8", "7"]);
    expect(feed.hasMore).toBe(false);
    expect(fetched.mock.calls[1]?.[0]).toContain("cursor=8");
  });

  test("keeps its posts when the next page fails", async () => {
    respondWith({ body: samplePage([9], "9") }, problem(500, "unknown"), { body: samplePage([8]) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();
    expect(feed).toMatchObject({ moreStatus: "failed", hasMore: true });
    await feed.loadMore();
    expect(ids(feed)).toEqual(["9", "8"]);
  });

  test("holds new posts back until they are requested", async () => {
    setPref("feed", "following");
    respondWith({ body: samplePage([9, 8], "8") }, { body: samplePage([11, 10, 9], "9") });
    const feed = new Feed();
    await feed.load();
    expect(await feed.checkForNew()).toBe(true);
    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed.newPosts).toHaveLength(2);
    feed.showNewPosts();

    expect(ids(feed)).toEqual(["11", "10", "9", "8"]);
    expect(feed.newPosts).toHaveLength(0);
  });

  test("removes posts that the server no longer returns", async () => {
    setPref("feed", "following");
    const page = (...numbers: number[]) => ({
      posts: numbers.map((id) => samplePost(id, { created_at: `2026-03-10T12:00:${id + 10}Z` })),
      next_cursor: "c",
      has_more: true,
    });
    respondWith({ body: page(9, 8, 7) }, { body: page(6, 5) }, { body: page(9, 7, 6) });
    const feed = new Feed();
    await feed.load();
    await feed.loadMore();
    await feed.checkForNew();

    expect(ids(feed)).toEqual(["9", "7", "6", "5"]);
  });

  test("is empty once all its authors are hidden", async () => {
    respondWith({ body: samplePage([2, 1]) }, { body: samplePage([]) });
    const feed = new Feed();
    await feed.load();
    await feed.checkForNew();

    expect(feed.posts).toEqual([]);
  });

  test("restarts when there are so many new posts that a gap is possible", async () => {
    setPref("feed", "following");
    respondWith({ body: samplePage([2, 1], "1") }, { body: samplePage([9, 8], "8") });
    const feed = new Feed();
    await feed.load();
    await feed.checkForNew();
    feed.showNewPosts();

    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed.hasMore).toBe(true);
  });

  test("announces new posts whatever their rank, and puts them on top of the ranked ones", async () => {
    const at = (id: number, minute: number) => samplePost(id, { created_at: `2026-03-10T12:${minute}:00Z` });
    const page = (...posts: Post[]) => ({ posts, next_cursor: "c", has_more: true });
    const fetched = respondWith(
      { body: page(at(3, 10), at(5, 30), at(1, 11)) },
      { body: page(at(7, 50), at(6, 40), at(5, 30)) },
    );
    const feed = new Feed();
    await feed.load();
    await feed.checkForNew();

    expect(feed.newPosts.map(({ post_id }) => post_id)).toEqual(["7", "6"]);
    expect(fetched.mock.calls[1]?.[0]).toContain("mode=following");
    feed.showNewPosts();
    expect(ids(feed)).toEqual(["7", "6", "3", "5", "1"]);
  });

  test("reloads in another order, and saves the choice", async () => {
    const fetched = respondWith({ body: samplePage([9, 8]) }, { body: samplePage([8, 9]) });
    const feed = new Feed();
    await feed.load();
    await feed.setMode("following");

    expect(ids(feed)).toEqual(["8", "9"]);
    expect(fetched.mock.calls.map(([path]) => new URLSearchParams(path.split("?")[1]).get("mode"))).toEqual([
      "ranked",
      "following",
    ]);
  });

  test("shows cached posts when the server is unreachable, and replaces them when it is back", async () => {
    const runtime = await offline.runtime();
    await runtime?.cache.setOwner("me");
    markFirstPaint();
    respondWith({ body: samplePage([9, 8], "8") });
    await new Feed().load();
    await vi.waitFor(async () => expect(await offline.read("feed")).toHaveLength(2));

    respondWith(new TypeError("no network"), { body: samplePage([11, 9]) });
    const feed = new Feed();
    await feed.load();
    expect(ids(feed)).toEqual(["9", "8"]);
    expect(feed).toMatchObject({ isCached: true, hasMore: false });
    await feed.checkForNew();
    expect(ids(feed)).toEqual(["11", "9"]);
    expect(feed.isCached).toBe(false);
  });

  test("shows the viewer's own post at once", async () => {
    respondWith({ body: samplePage([1]) });
    const feed = new Feed();
    await feed.load();
    feed.prepend(samplePost(2));
    expect(ids(feed)).toEqual(["2", "1"]);
  });

  test("ignores a response that arrives after the account changed", async () => {
    respondWith({ body: samplePage([1]) });
    const feed = new Feed();
    const late = feed.load();
    feed.reset();
    await late;
    expect(feed).toMatchObject({ status: "idle", posts: [] });
  });
});

describe("posts of one author", () => {
  const by = (author: string, id: number) =>
    samplePost(id, { author: { ...samplePost(id).author, account_id: author } });
  const order = (posts: readonly Post[]) => posts.map(({ post_id }) => Number(post_id));

  test("are kept apart where there are more than two in a row", () => {
    const posts = [by("a", 1), by("a", 2), by("a", 3), by("a", 4), by("b", 5), by("b", 6), by("c", 7)];
    expect(order(spread(posts))).toEqual([1, 2, 5, 3, 4, 6, 7]);
  });
  test("stay where they are when nobody else's are left", () => {
    expect(order(spread([by("a", 1), by("a", 2), by("a", 3)]))).toEqual([1, 2, 3]);
  });
});

describe("moving by keyboard", () => {
  test("starts with the first post", () => {
    expect(nextArticle({ current: -1, top: 0, by: 1, length: 9, isAtStart: true })).toBe(0);
  });
  test("continues from the focused post", () => {
    expect(nextArticle({ current: 3, top: 3, by: 1, length: 9, isAtStart: false })).toBe(4);
    expect(nextArticle({ current: 3, top: 3, by: -1, length: 9, isAtStart: false })).toBe(2);
  });
  test("continues from the viewport after scrolling", () => {
    expect(nextArticle({ current: 0, top: 20, by: 1, length: 40, isAtStart: false })).toBe(21);
  });
  test("stops at both ends", () => {
    expect(nextArticle({ current: 8, top: 8, by: 1, length: 9, isAtStart: false })).toBe(8);
    expect(nextArticle({ current: 0, top: 0, by: -1, length: 9, isAtStart: true })).toBe(0);
  });
});
