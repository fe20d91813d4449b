import { beforeEach, describe, expect, test, vi } from "vitest";
import { firstPaint, markFirstPaint } from "../../src/base/afterFirstPaint";
import { announceComments } from "../../src/base/commentEvents";
import type { Comment } from "../../src/client/comments";
import { offline } from "../../src/offline";
import { CommentList } from "../../src/rooms/comments/commentList.svelte";
import { complete, mentionAtCaret } from "../../src/rooms/comments/mention";
import { postStore } from "../../src/rooms/posts";
import { problem, respondWith } from "../client/fakeFetch";
import { samplePost } from "./samplePosts";

function sampleComment(id: number, changes: Partial<Comment> = {}): Comment {
  return {
    comment_id: String(id),
    post_id: "1",
    author: { account_id: "2", username: "bo", full_name: "Bo", profile_pic_url: null, is_verified: false },
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
const texts = (list: CommentList) => list.comments.map(({ comment }) => comment.text);

describe("the comments of a post", () => {
  test("show what others write meanwhile above the rest, once", async () => {
    const later = sampleComment(6, { created_at: "2026-03-10T12:05:00Z" });
    respondWith(page(sampleComment(5)), page(later, sampleComment(5)), page(later, sampleComment(5)));
    const list = new CommentList("1");
    const unsubscribe = list.subscribe();
    await list.load();
    for (const postId of ["1", "2", "1"]) announceComments(postId);

    await vi.waitFor(() => expect(texts(list)).toEqual(["comment 6", "comment 5"]));
    unsubscribe();
  });

  test("show a new comment at once as pending, then as the server has it", async () => {
    postStore.put(samplePost(1));
    const fetched = respondWith(page(sampleComment(5)), {
      status: 201,
      body: sampleComment(6, { text: "Hello" }),
    });
    const list = new CommentList("1");
    await list.load();
    const posting = list.post("Hello", null);
    expect(list.pending.map(({ mutation: { text } }) => text)).toEqual(["Hello"]);
    await posting;

    expect(list.pending).toEqual([]);
    expect(texts(list)).toEqual(["Hello", "comment 5"]);
    expect(postStore.find("1")?.comment_count).toBe(1);
    const headers = new Headers(fetched.mock.calls[1]?.[1]?.headers);
    expect(headers.get("Idempotency-Key")).toMatch(/^[0-9a-f]{32}$/);
  });

  test("remove it when the server refuses, and tell the caller", async () => {
    respondWith(page(), problem(403, "comments_off"));
    const list = new CommentList("1");
    await list.load();

    await expect(list.post("Hello", null)).rejects.toMatchObject({ code: "comments_off" });
    expect(list.pending).toEqual([]);
    expect(texts(list)).toEqual([]);
  });

  test("add a reply to its thread", async () => {
    const root = sampleComment(5);
    respondWith(page(root), { status: 201, body: sampleComment(7, { parent_id: "6", root_id: "5" }) });
    const list = new CommentList("1");
    await list.load();
    await list.post("Yes", list.comments[0] ?? null);

    expect(texts(list)).toEqual(["comment 5"]);
    expect(list.comments[0]?.replies.map(({ comment }) => comment.comment_id)).toEqual(["7"]);
    expect(list.comments[0]?.comment.thread_count).toBe(1);
  });

  test("keeps the place of a deleted comment that others have replyTo", async () => {
    respondWith(
      page(sampleComment(5, { thread_count: 2 }), sampleComment(4)),
      { status: 204 },
      { status: 204 },
    );
    const list = new CommentList("1");
    await list.load();
    const [replyTo, alone] = list.comments;
    if (!replyTo || !alone) throw new Error("two comments were loaded");
    await list.remove(replyTo);
    await list.remove(alone);

    expect(list.comments).toEqual([replyTo]);
    expect(replyTo.comment).toMatchObject({ state: "gone", author: null, text: "" });
  });

  test("like optimistically and roll back on failure", async () => {
    respondWith(page(sampleComment(5)), problem(500, "unknown"));
    const list = new CommentList("1");
    await list.load();
    const [node] = list.comments;
    const liking = node?.like();
    expect(node?.comment).toMatchObject({ viewer_has_liked: true, like_count: 1 });
    await liking;
    await vi.waitFor(() => expect(node?.comment).toMatchObject({ viewer_has_liked: false, like_count: 0 }));
  });
});

describe("a comment liked without a connection", () => {
  beforeEach(async () => {
    markFirstPaint();
    await firstPaint;
  });

  async function likeOffline() {
    const runtime = await offline.runtime();
    await runtime?.setOwner("me");
    respondWith(page(sampleComment(5)), new TypeError("no network"), new TypeError("no network"));
    const list = new CommentList("1");
    const stop = list.subscribe();
    await list.load();
    await list.comments[0]?.like();
    return { list, runtime, stop };
  }

  test("is queued, shown as liked after a reload, and sent once", async () => {
    const { runtime, stop } = await likeOffline();
    expect(offline.pendingValue("commentLike", "5")).toBe(true);
    await runtime?.queue.drain();
    respondWith(page(sampleComment(5)));
    const reloaded = new CommentList("1");
    await reloaded.load();
    expect(reloaded.comments[0]?.comment).toMatchObject({ viewer_has_liked: true, like_count: 1 });

    const fetched = respondWith({ status: 204 });
    await runtime?.queue.drain();
    expect(fetched.mock.calls.map(([path, init]) => [init?.method, path])).toEqual([
      ["PUT", "/api/v1/comments/5/like"],
    ]);
    expect(runtime?.queue.entries).toEqual([]);
    stop();
  });

  test("is rolled back when the server rejects it later", async () => {
    const { list, runtime, stop } = await likeOffline();
    await runtime?.queue.drain();
    respondWith(problem(404, "comment_not_found"));
    await runtime?.queue.drain();

    expect(list.comments[0]?.comment).toMatchObject({ viewer_has_liked: false, like_count: 0 });
    expect(runtime?.queue.entries).toEqual([]);
    stop();
  });
});

describe("a mention", () => {
  test("is found at the caret", () => {
    expect(mentionAtCaret("Hi @bo", 6)).toEqual({ start: 3, end: 6, query: "bo" });
    expect(mentionAtCaret("Hi @bo!", 7)).toBeNull();
    expect(mentionAtCaret("ana@bo", 6)).toBeNull();
  });

  test("replaces what was typed", () => {
    const token = mentionAtCaret("Hi @bo, look", 6);
    expect(token && complete("Hi @bo, look", token, "bo_marsh")).toEqual({
      text: "Hi @bo_marsh , look",
      caret: 13,
    });
  });
});
