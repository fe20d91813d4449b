/** What is gone leaves this device: its images in all sizes, and the cached responses that show it. */
import { beforeEach, expect, test, vi } from "vitest";
import { ViewedPost } from "../../src/app/pages/viewedPost.svelte";
import { markFirstPaint } from "../../src/base/afterFirstPaint";
import { imageCacheName } from "../../src/base/imageCache";
import { announceHidden } from "../../src/base/visibilityEvents";
import type { Post } from "../../src/client";
import { offline } from "../../src/offline";
import { Feed } from "../../src/rooms/feed/feed.svelte";
import { postStore } from "../../src/rooms/posts";
import { problem, respondWith } from "../client/fakeFetch";
import { sampleMedia } from "../rooms/sampleMedia";
import { samplePost } from "../rooms/samplePosts";
import { FakeCaches } from "../worker/fakeCaches";

const ANA = "1";
const BO = "2";
let stored: FakeCaches;

beforeEach(async () => {
  stored = new FakeCaches();
  vi.stubGlobal("caches", stored);
  markFirstPaint();
  postStore.clear();
  await (await offline.runtime())?.setOwner("me");
});

/** A post with a photo that was seen in two sizes. */
async function seenPost(id: number, accountId = ANA, changes: Partial<Post> = {}): Promise<Post> {
  const folder = `/${accountId}/${id}-folder`;
  const url = `/media/~1773144000.signature${folder}/1080.jpg`;
  const images = await stored.open(imageCacheName("me"));
  for (const size of ["640", "1080"]) await images.put(`/media${folder}/${size}.jpg`, new Response("image"));
  const author = { ...samplePost(id).author, account_id: accountId };
  return samplePost(id, {
    author,
    media: [{ ...sampleMedia(String(id)), url, tags: [] }],
    ...changes,
  } as Partial<Post>);
}

const folders = () => {
  const paths = stored.stores.get(imageCacheName("me"))?.entries.keys() ?? [];
  return [...new Set([...paths].map((path) => path.split("/").slice(2, 4).join("/")))];
};

test("the files of a deleted post, and no others", async () => {
  for (const id of [1, 2]) postStore.put(await seenPost(id));
  postStore.setStatus("1", "deleted");

  await vi.waitFor(() => expect(folders()).toEqual(["1/2-folder"]));
});

test("everything of an account that is blocked", async () => {
  const post = await seenPost(1);
  await seenPost(2, BO);
  await offline.store("post:1", post);
  announceHidden(ANA);

  await vi.waitFor(() => expect(folders()).toEqual(["2/2-folder"]));
  await vi.waitFor(async () => expect(await offline.read("post:1")).toBeNull());
});

test("a post whose page answers that it is not there", async () => {
  const post = await seenPost(7);
  await offline.store("post:7", post);
  await offline.store("comments:7", { comments: [] });
  await offline.store("comments:8", { comments: [] });
  respondWith(problem(404, "post_not_found"));
  const viewed = new ViewedPost("7");
  await viewed.load();

  expect(viewed.post).toBeNull();
  await vi.waitFor(() => expect(folders()).toEqual([]));
  await vi.waitFor(async () => expect(await offline.read("comments:7")).toBeNull());
  expect(await offline.read("post:7")).toBeNull();
  expect(await offline.read("comments:8")).not.toBeNull();
});

test("a post that an earlier visit cached and that the feed no longer has", async () => {
  await offline.store("feed", [await seenPost(9), await seenPost(8)]);
  respondWith({ body: { posts: [await seenPost(9)], next_cursor: null, has_more: false } });
  await new Feed().load();

  await vi.waitFor(() => expect(folders()).toEqual(["1/9-folder"]));
  await vi.waitFor(async () => expect(await offline.read("feed")).toHaveLength(1));
});

test("nothing while the server is unreachable", async () => {
  await offline.store("feed", [await seenPost(9)]);
  respondWith(new TypeError("no network"), new TypeError("no network"));
  await new Feed().load();
  await new ViewedPost("9").load();

  expect(folders()).toEqual(["1/9-folder"]);
  expect(await offline.read("feed")).toHaveLength(1);
});
