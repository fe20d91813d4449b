import { expect, test } from "vitest";
import { offline } from "../../src/offline";
import { PostStore } from "../../src/rooms/posts/postStore.svelte";
import { toasts } from "../../src/ui";
import { problem, respondWith } from "../client/fakeFetch";
import { samplePost } from "./samplePosts";

test("a post is one object wherever it was loaded", () => {
  const postStore = new PostStore();
  const first = postStore.put(samplePost(1));
  const second = postStore.put(samplePost(1, { like_count: 9 }));

  expect(second).toBe(first);
  expect(first.like_count).toBe(9);
});

test("a like shows at once with its count", async () => {
  respondWith({ status: 204 });
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  const done = postStore.like("1", true);

  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
  await done;
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
});

test("a toProblem like goes back and says why", async () => {
  respondWith(problem(503, "unavailable"));
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  await postStore.like("1", true);

  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 3 });
  expect(toasts.list.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining("not saved") });
});

test("a refresh does not undo a like in flight", async () => {
  respondWith({ status: 204 });
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  const done = postStore.like("1", true);
  postStore.put(samplePost(1));

  expect(post.viewer_has_liked).toBe(true);
  await done;
});

test("a newer response is the state that the next like starts from", async () => {
  const fetched = respondWith({ status: 204 });
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  postStore.put(samplePost(1, { viewer_has_liked: true, like_count: 4 }));
  await postStore.like("1", true);
  expect(fetched).not.toHaveBeenCalled();
  await postStore.like("1", false);

  expect(fetched).toHaveBeenCalledOnce();
  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 3 });
});

test("the store evicts the oldest post beyond its limit", () => {
  const postStore = new PostStore();
  for (let id = 0; id <= 1_500; id++) postStore.put(samplePost(id));

  expect(postStore.find("0")).toBeNull();
  expect(postStore.find("1500")).not.toBeNull();
});

test("a save shows at once and goes back when it is toProblem", async () => {
  respondWith({ status: 204 }, problem(404, "post_not_found"));
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  const done = postStore.save("1", true);
  expect(post.viewer_has_saved).toBe(true);
  await done;
  await postStore.save("1", false);

  expect(post.viewer_has_saved).toBe(true);
});

test("a like that waits for a connection is shown whatever the server still says, and taken back when toProblem", async () => {
  const runtime = await offline.runtime();
  await runtime?.queue.setOwner("me");
  await runtime?.queue.enqueue({ kind: "like", id: "5", on: true });
  const postStore = new PostStore();
  const post = postStore.put(samplePost(5));
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
  postStore.put(samplePost(5, { like_count: 7 }));
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 8 });

  await runtime?.queue.cancel("like:5");
  postStore.revert({ kind: "like", id: "5", on: true });
  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 7 });
});

test("removing a post notifies every list", () => {
  const postStore = new PostStore();
  const gone: string[] = [];
  const stop = postStore.onRemoved((isGone) => {
    for (const id of [1, 2]) if (isGone(samplePost(id))) gone.push(String(id));
  });
  postStore.remove(({ post_id }) => post_id === "2");
  stop();
  postStore.remove(() => true);

  expect(gone).toEqual(["2"]);
});

test("an archived post is listed in the archive only, until it is unarchived", () => {
  const postStore = new PostStore();
  postStore.put(samplePost(1));
  postStore.setStatus("1", "archived");
  expect([postStore.isListed("1"), postStore.isListed("1", true)]).toEqual([false, true]);
  postStore.setStatus("1", "shown");
  expect([postStore.isListed("1"), postStore.isListed("1", true)]).toEqual([true, false]);
  postStore.setStatus("1", "deleted");
  expect([postStore.isListed("1"), postStore.isListed("1", true), postStore.isListed("2")]).toEqual([
    false,
    false,
    true,
  ]);
});

test("counts that the server announces are shown, except while a like is in flight", async () => {
  respondWith({ status: 204 });
  const postStore = new PostStore();
  const post = postStore.put(samplePost(1));
  const liking = postStore.like("1", true);
  postStore.setCounts("1", { like_count: 3, comment_count: 0 });
  expect(post.like_count).toBe(4);

  await liking;
  postStore.setCounts("1", { like_count: 9, comment_count: 2 });
  expect(post).toMatchObject({ like_count: 9, comment_count: 2 });
});
