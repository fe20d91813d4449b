import { expect, test } from "vitest";
import { offline } from "../../src/offline";
import { Shelf } from "../../src/rooms/posts/shelf.svelte";
import { toasts } from "../../src/ui";
import { answer, problem } from "../client/answers";
import { samplePost } from "./sample";

test("the same post is one object wherever it was loaded", () => {
  const shelf = new Shelf();
  const first = shelf.put(samplePost(1));
  const second = shelf.put(samplePost(1, { like_count: 9 }));

  expect(second).toBe(first);
  expect(first.like_count).toBe(9);
});

test("a like shows at once with its count", async () => {
  answer({ status: 204 });
  const shelf = new Shelf();
  const post = shelf.put(samplePost(1));
  const done = shelf.like("1", true);

  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
  await done;
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
});

test("a refused like goes back and says why", async () => {
  answer(problem(503, "unavailable"));
  const shelf = new Shelf();
  const post = shelf.put(samplePost(1));
  await shelf.like("1", true);

  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 3 });
  expect(toasts.list.at(-1)).toMatchObject({ isFailure: true, text: expect.stringContaining("not saved") });
});

test("a refresh does not undo a like that is on its way", async () => {
  answer({ status: 204 });
  const shelf = new Shelf();
  const post = shelf.put(samplePost(1));
  const done = shelf.like("1", true);
  shelf.put(samplePost(1));

  expect(post.viewer_has_liked).toBe(true);
  await done;
});

test("what the server says elsewhere is what the next like starts from", async () => {
  const fetched = answer({ status: 204 });
  const shelf = new Shelf();
  const post = shelf.put(samplePost(1));
  shelf.put(samplePost(1, { viewer_has_liked: true, like_count: 4 }));
  await shelf.like("1", true);
  expect(fetched).not.toHaveBeenCalled();
  await shelf.like("1", false);

  expect(fetched).toHaveBeenCalledOnce();
  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 3 });
});

test("the shelf forgets the oldest rather than growing for ever", () => {
  const shelf = new Shelf();
  for (let id = 0; id <= 1_500; id++) shelf.put(samplePost(id));

  expect(shelf.find("0")).toBeNull();
  expect(shelf.find("1500")).not.toBeNull();
});

test("a save shows at once and goes back when it is refused", async () => {
  answer({ status: 204 }, problem(404, "post_not_found"));
  const shelf = new Shelf();
  const post = shelf.put(samplePost(1));
  const done = shelf.save("1", true);
  expect(post.viewer_has_saved).toBe(true);
  await done;
  await shelf.save("1", false);

  expect(post.viewer_has_saved).toBe(true);
});

test("a like that waits for a connection is shown whatever the server still says, and taken back when refused", async () => {
  const kit = await offline.kit();
  await kit?.queue.belongTo("me");
  await kit?.queue.add({ kind: "like", id: "5", on: true });
  const shelf = new Shelf();
  const post = shelf.put(samplePost(5));
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 4 });
  shelf.put(samplePost(5, { like_count: 7 }));
  expect(post).toMatchObject({ viewer_has_liked: true, like_count: 8 });

  await kit?.queue.withdraw("like:5");
  shelf.takeBack({ kind: "like", id: "5", on: true });
  expect(post).toMatchObject({ viewer_has_liked: false, like_count: 7 });
});

test("every list lets go of a post that is gone", () => {
  const shelf = new Shelf();
  const gone: string[] = [];
  const stop = shelf.whenDropped((isGone) => {
    for (const id of [1, 2]) if (isGone(samplePost(id))) gone.push(String(id));
  });
  shelf.drop(({ post_id }) => post_id === "2");
  stop();
  shelf.drop(() => true);

  expect(gone).toEqual(["2"]);
});

test("a post that is put away leaves the walls and hangs in the archive, until it is taken out", () => {
  const shelf = new Shelf();
  shelf.put(samplePost(1));
  shelf.move("1", "archived");
  expect([shelf.hangs("1"), shelf.hangs("1", true)]).toEqual([false, true]);
  shelf.move("1", "shown");
  expect([shelf.hangs("1"), shelf.hangs("1", true)]).toEqual([true, false]);
  shelf.move("1", "deleted");
  expect([shelf.hangs("1"), shelf.hangs("1", true), shelf.hangs("2")]).toEqual([false, false, true]);
});
