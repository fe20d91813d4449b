import { expect, test, vi } from "vitest";
import type { PersonInList } from "../../src/client/people";
import { feed } from "../../src/rooms/feed";
import { filter, followListEntry } from "../../src/rooms/graph/followList.svelte";
import { FollowState } from "../../src/rooms/graph/followState.svelte";
import { RelationEditor } from "../../src/rooms/graph/relation.svelte";
import { availableActions } from "../../src/rooms/moderation/labels";
import { postStore } from "../../src/rooms/posts";
import { columnsFor, rowsOf, type Tile } from "../../src/rooms/posts/grid/tiles";
import { problem, respondWith } from "../client/fakeFetch";
import { samplePost } from "./samplePosts";

const stranger = {
  account_id: "7",
  username: "ana",
  is_private: false,
  viewer_follows: false,
  viewer_has_requested: false,
  follows_viewer: false,
};

test("following a private account is a request, and does not count", async () => {
  respondWith({ status: 204 });
  const followState = new FollowState({ ...stranger, is_private: true });
  const done = followState.follow(true);

  expect([followState.follows, followState.hasRequested, followState.followerDelta]).toEqual([
    false,
    true,
    0,
  ]);
  await done;
});

test("a toProblem follow goes back with its count", async () => {
  respondWith(problem(403, "forbidden"));
  const followState = new FollowState({ ...stranger, account_id: "8" });
  const done = followState.follow(true);
  expect([followState.follows, followState.followerDelta]).toEqual([true, 1]);
  await done;

  expect([followState.follows, followState.followerDelta]).toEqual([false, 0]);
});

test("an unfollowed author leaves the feed only", async () => {
  const theirs = samplePost(1, { author: { ...samplePost(1).author, account_id: "10" } });
  const dropped = vi.fn();
  const stop = postStore.onRemoved(dropped);
  respondWith({ body: { posts: [theirs], next_cursor: null, has_more: false } }, { status: 204 });
  await feed.load();
  await new FollowState({ ...stranger, account_id: "10", viewer_follows: true }).follow(false);
  stop();

  expect(feed.posts).toEqual([]);
  expect(dropped).not.toHaveBeenCalled();
});

test("a block ends every follow between the two", () => {
  const followState = new FollowState({
    ...stranger,
    account_id: "9",
    viewer_follows: true,
    follows_viewer: true,
  });
  followState.end();

  expect([followState.isOn, followState.followsViewer, followState.followerDelta]).toEqual([
    false,
    false,
    -1,
  ]);
});

test("a block removes all their posts at once", async () => {
  const theirs = samplePost(1, { author: { ...samplePost(1).author, account_id: "9" } });
  const dropped = vi.fn();
  const stop = postStore.onRemoved((isGone) =>
    dropped(isGone(postStore.put(theirs)), isGone(postStore.put(samplePost(2)))),
  );
  respondWith({ body: {} }, { status: 204 });
  const relationEditor = new RelationEditor(new FollowState({ ...stranger, account_id: "9" }));
  await relationEditor.load();
  await relationEditor.block();
  stop();

  expect(dropped).toHaveBeenCalledExactlyOnceWith(true, false);
});

function named(username: string, full_name: string): PersonInList {
  const relation = {
    is_self: false,
    viewer_follows: false,
    viewer_has_requested: false,
    follows_viewer: false,
    viewer_blocks: false,
    viewer_mutes_posts: false,
    viewer_mutes_stories: false,
    viewer_has_as_close_friend: false,
    viewer_restricts: false,
  };
  return {
    account_id: username,
    username,
    full_name,
    profile_pic_url: null,
    is_private: false,
    is_verified: false,
    relation,
  };
}

test("a list is filtered by both names, ignoring case and accents", () => {
  const all = [named("ines", "Inês Duarte"), named("bo", "Bo")].map(followListEntry);
  const found = (query: string) => filter(all, query).map(({ person }) => person.username);

  expect([found("INES d"), found("duarte"), found(" bo "), found("x")]).toEqual([
    ["ines"],
    ["ines"],
    ["bo"],
    [],
  ]);
});

test("a mosaic has a large tile in every second row, on both sides in turn", () => {
  const tiles = Array.from({ length: 13 }, (_, index) => ({ post_id: String(index) }) as Tile);
  expect(rowsOf(tiles, 3, true).map(({ layout }) => layout)).toEqual([
    "large first",
    "plain",
    "large last",
    "plain",
    "plain",
  ]);
  expect(rowsOf(tiles, 3).every(({ layout }) => layout === "plain")).toBe(true);
});

test("the available moderation actions depend on the object and its state", () => {
  expect(availableActions({ kind: "account", object_state: "suspended" })).toContain("unsuspend");
  expect(availableActions({ kind: "post", object_state: "hidden" })).toContain("restore");
  expect(availableActions({ kind: "comment", object_state: "deleted" })).toEqual(["dismiss", "warn", "note"]);
});

test("a wide window has up to six columns, and a mosaic fills the rows beside its large tile", () => {
  expect([390, 1000, 1440, 1920].map(columnsFor)).toEqual([3, 4, 5, 6]);
  const tiles = Array.from({ length: 20 }, (_, index) => ({ post_id: String(index) }) as Tile);
  expect(rowsOf(tiles, 5, true).map(({ tiles, layout }) => [tiles.length, layout])).toEqual([
    [7, "large first"],
    [5, "plain"],
    [7, "large last"],
    [1, "plain"],
  ]);
});

test("a follow shows beside every post of the author, and an unfollow takes it back", async () => {
  const author = { ...samplePost(1).author, account_id: "31" };
  const [first, second, other] = postStore.putAll([
    samplePost(41, { author, viewer_follows_author: false }),
    samplePost(42, { author, viewer_follows_author: false }),
    samplePost(43, { viewer_follows_author: false }),
  ]);
  respondWith({ status: 204 }, { status: 204 });
  const followState = new FollowState({ ...stranger, account_id: "31" });

  await followState.follow(true);
  expect([first, second, other].map((post) => post?.viewer_follows_author)).toEqual([true, true, false]);
  await followState.follow(false);
  expect([first, second].map((post) => post?.viewer_follows_author)).toEqual([false, false]);
});
