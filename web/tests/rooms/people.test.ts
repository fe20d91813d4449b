import { expect, test, vi } from "vitest";
import type { PersonInList } from "../../src/client/people";
import { feed } from "../../src/rooms/feed";
import { filter, listed } from "../../src/rooms/graph/circle.svelte";
import { Standing } from "../../src/rooms/graph/follow.svelte";
import { Treating } from "../../src/rooms/graph/treating.svelte";
import { actsFor } from "../../src/rooms/moderation/wording";
import { shelf } from "../../src/rooms/posts";
import { stripsOf, type Tile } from "../../src/rooms/posts/wall/tiles";
import { answer, problem } from "../client/answers";
import { samplePost } from "./sample";

const stranger = {
  account_id: "7",
  username: "ana",
  is_private: false,
  viewer_follows: false,
  viewer_has_requested: false,
  follows_viewer: false,
};

test("following a private account is asking, and does not count", async () => {
  answer({ status: 204 });
  const standing = new Standing({ ...stranger, is_private: true });
  const done = standing.follow(true);

  expect([standing.follows, standing.hasRequested, standing.difference]).toEqual([false, true, 0]);
  await done;
});

test("a refused follow goes back with its count", async () => {
  answer(problem(403, "forbidden"));
  const standing = new Standing({ ...stranger, account_id: "8" });
  const done = standing.follow(true);
  expect([standing.follows, standing.difference]).toEqual([true, 1]);
  await done;

  expect([standing.follows, standing.difference]).toEqual([false, 0]);
});

test("whom one no longer follows leaves the feed, and stays where one looks at them", async () => {
  const theirs = samplePost(1, { author: { ...samplePost(1).author, user_id: "10" } });
  const dropped = vi.fn();
  const stop = shelf.whenDropped(dropped);
  answer({ body: { posts: [theirs], next_cursor: null, has_more: false } }, { status: 204 });
  await feed.load();
  await new Standing({ ...stranger, account_id: "10", viewer_follows: true }).follow(false);
  stop();

  expect(feed.posts).toEqual([]);
  expect(dropped).not.toHaveBeenCalled();
});

test("a block ends every follow between the two", () => {
  const standing = new Standing({ ...stranger, account_id: "9", viewer_follows: true, follows_viewer: true });
  standing.end();

  expect([standing.isOn, standing.followsViewer, standing.difference]).toEqual([false, false, -1]);
});

test("whoever blocks somebody sees nothing of theirs any more, at once", async () => {
  const theirs = samplePost(1, { author: { ...samplePost(1).author, user_id: "9" } });
  const dropped = vi.fn();
  const stop = shelf.whenDropped((isGone) =>
    dropped(isGone(shelf.put(theirs)), isGone(shelf.put(samplePost(2)))),
  );
  answer({ body: {} }, { status: 204 });
  const treating = new Treating(new Standing({ ...stranger, account_id: "9" }));
  await treating.load();
  await treating.block();
  stop();

  expect(dropped).toHaveBeenCalledExactlyOnceWith(true, false);
});

function named(username: string, full_name: string): PersonInList {
  const relation = {
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

test("a list is searched by both names, in any case and without accents", () => {
  const all = [named("ines", "Inês Duarte"), named("bo", "Bo")].map(listed);
  const found = (words: string) => filter(all, words).map(({ person }) => person.username);

  expect([found("INES d"), found("duarte"), found(" bo "), found("x")]).toEqual([
    ["ines"],
    ["ines"],
    ["bo"],
    [],
  ]);
});

test("a salon hangs every second strip around a large picture, on both sides in turn", () => {
  const tiles = Array.from({ length: 13 }, (_, index) => ({ post_id: String(index) }) as Tile);
  expect(stripsOf(tiles, true).map(({ hanging }) => hanging)).toEqual([
    "large first",
    "plain",
    "large last",
    "plain",
    "plain",
  ]);
  expect(stripsOf(tiles).every(({ hanging }) => hanging === "plain")).toBe(true);
});

test("moderators are offered what suits the object and its state", () => {
  expect(actsFor({ kind: "account", object_state: "suspended" })).toContain("unsuspend");
  expect(actsFor({ kind: "post", object_state: "hidden" })).toContain("restore");
  expect(actsFor({ kind: "comment", object_state: "deleted" })).toEqual(["dismiss", "warn", "note"]);
});
