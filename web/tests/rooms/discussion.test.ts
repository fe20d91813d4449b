import { beforeEach, describe, expect, test, vi } from "vitest";
import { becomeCalm, calm } from "../../src/base/calm";
import type { Comment } from "../../src/client/comments";
import { offline } from "../../src/offline";
import { Discussion } from "../../src/rooms/comments/discussion.svelte";
import { complete, typedName } from "../../src/rooms/comments/mention";
import { shelf } from "../../src/rooms/posts";
import { answer, problem } from "../client/answers";
import { samplePost } from "./sample";

function sampleComment(id: number, changes: Partial<Comment> = {}): Comment {
  return {
    comment_id: String(id),
    post_id: "1",
    author: { user_id: "2", username: "bo", full_name: "Bo", profile_pic_url: null, is_verified: false },
    text: `comment ${id}`,
    created_at: "2026-03-10T12:00:00Z",
    like_count: 0,
    thread_count: 0,
    depth: 0,
    parent_id: null,
    root_id: null,
    answers: null,
    is_pinned: false,
    state: "visible",
    viewer_has_liked: false,
    viewer_may_delete: true,
    ...changes,
  };
}
const page = (...comments: Comment[]) => ({ body: { comments, next_cursor: null, has_more: false } });
const texts = (discussion: Discussion) => discussion.remarks.map(({ comment }) => comment.text);

describe("a discussion", () => {
  test("shows one's words at once as on their way, then as the server has them", async () => {
    shelf.put(samplePost(1));
    const fetched = answer(page(sampleComment(5)), {
      status: 201,
      body: sampleComment(6, { text: "Hello" }),
    });
    const discussion = new Discussion("1");
    await discussion.load();
    const saying = discussion.say("Hello", null);
    expect(discussion.pending.map(({ saying: { text } }) => text)).toEqual(["Hello"]);
    await saying;

    expect(discussion.pending).toEqual([]);
    expect(texts(discussion)).toEqual(["Hello", "comment 5"]);
    expect(shelf.find("1")?.comment_count).toBe(1);
    const headers = new Headers(fetched.mock.calls[1]?.[1]?.headers);
    expect(headers.get("Idempotency-Key")).toMatch(/^[0-9a-f]{32}$/);
  });

  test("takes them back when the server refuses, and says so to its caller", async () => {
    answer(page(), problem(403, "comments_off"));
    const discussion = new Discussion("1");
    await discussion.load();

    await expect(discussion.say("Hello", null)).rejects.toMatchObject({ code: "comments_off" });
    expect(discussion.pending).toEqual([]);
    expect(texts(discussion)).toEqual([]);
  });

  test("puts an answer below what it answers, whoever in the thread it answers", async () => {
    const root = sampleComment(5);
    answer(page(root), { status: 201, body: sampleComment(7, { parent_id: "6", root_id: "5" }) });
    const discussion = new Discussion("1");
    await discussion.load();
    await discussion.say("Yes", discussion.remarks[0] ?? null);

    expect(texts(discussion)).toEqual(["comment 5"]);
    expect(discussion.remarks[0]?.replies.map(({ comment }) => comment.comment_id)).toEqual(["7"]);
    expect(discussion.remarks[0]?.comment.thread_count).toBe(1);
  });

  test("keeps the place of a deleted comment that others have answered", async () => {
    answer(page(sampleComment(5, { thread_count: 2 }), sampleComment(4)), { status: 204 }, { status: 204 });
    const discussion = new Discussion("1");
    await discussion.load();
    const [answered, alone] = discussion.remarks;
    if (!answered || !alone) throw new Error("two comments were loaded");
    await discussion.remove(answered);
    await discussion.remove(alone);

    expect(discussion.remarks).toEqual([answered]);
    expect(answered.comment).toMatchObject({ state: "gone", author: null, text: "" });
  });

  test("likes a comment at once and takes it back honestly", async () => {
    answer(page(sampleComment(5)), problem(500, "unknown"));
    const discussion = new Discussion("1");
    await discussion.load();
    const [remark] = discussion.remarks;
    const liking = remark?.like();
    expect(remark?.comment).toMatchObject({ viewer_has_liked: true, like_count: 1 });
    await liking;
    await vi.waitFor(() => expect(remark?.comment).toMatchObject({ viewer_has_liked: false, like_count: 0 }));
  });
});

describe("a comment liked without a connection", () => {
  beforeEach(async () => {
    becomeCalm();
    await calm;
  });

  async function liked() {
    const kit = await offline.kit();
    await kit?.belongTo("me");
    answer(page(sampleComment(5)), new TypeError("no network"), new TypeError("no network"));
    const discussion = new Discussion("1");
    const stop = discussion.follow();
    await discussion.load();
    await discussion.remarks[0]?.like();
    return { discussion, kit, stop };
  }

  test("waits, is shown as liked also after a reload, and is sent once", async () => {
    const { kit, stop } = await liked();
    expect(offline.wished("commentLike", "5")).toBe(true);
    await kit?.queue.drain();
    answer(page(sampleComment(5)));
    const reloaded = new Discussion("1");
    await reloaded.load();
    expect(reloaded.remarks[0]?.comment).toMatchObject({ viewer_has_liked: true, like_count: 1 });

    const fetched = answer({ status: 204 });
    await kit?.queue.drain();
    expect(fetched.mock.calls.map(([path, init]) => [init?.method, path])).toEqual([
      ["PUT", "/api/v1/comments/5/like"],
    ]);
    expect(kit?.queue.entries).toEqual([]);
    stop();
  });

  test("is taken back when the server refuses it later", async () => {
    const { discussion, kit, stop } = await liked();
    await kit?.queue.drain();
    answer(problem(404, "comment_not_found"));
    await kit?.queue.drain();

    expect(discussion.remarks[0]?.comment).toMatchObject({ viewer_has_liked: false, like_count: 0 });
    expect(kit?.queue.entries).toEqual([]);
    stop();
  });
});

describe("a name after an @", () => {
  test("is found where the caret stands", () => {
    expect(typedName("Hi @bo", 6)).toEqual({ start: 3, end: 6, words: "bo" });
    expect(typedName("Hi @bo!", 7)).toBeNull();
    expect(typedName("ana@bo", 6)).toBeNull();
  });

  test("is put in place of what was typed", () => {
    const typed = typedName("Hi @bo, look", 6);
    expect(typed && complete("Hi @bo, look", typed, "bo_marsh")).toEqual({
      text: "Hi @bo_marsh , look",
      caret: 13,
    });
  });
});
