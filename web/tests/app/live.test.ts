/** The app kept up to date: by what is pushed while there is a live connection, by polling otherwise. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { keepBadges } from "../../src/app/live/badges";
import { throttled } from "../../src/app/live/throttled";
import { watchPosts } from "../../src/app/live/watchedPosts";
import { onCommentsAdded } from "../../src/base/commentEvents";
import { unread } from "../../src/rooms/notifications";
import { postStore } from "../../src/rooms/posts";
import { samplePost } from "../rooms/samplePosts";

const live = await vi.hoisted(async () => new (await import("./fakeLive")).FakeLive());
vi.mock("../../src/live/runtime", () => ({ live }));

let requests: string[];
let end: () => void = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  requests = [];
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url.replace("/api/v1", ""));
    return Response.json(url.endsWith("/direct/unread") ? { threads: 2, requests: 1 } : { unread_count: 4 });
  });
});

afterEach(() => {
  end();
  live.state.set("offline");
  vi.useRealTimers();
});

const asked = (path: string) => requests.filter((each) => each === path).length;

describe("the badges", () => {
  test("show what is pushed, and nobody polls while there is a connection", async () => {
    live.state.set("online");
    end = keepBadges();
    await vi.advanceTimersByTimeAsync(0);
    expect(unread).toMatchObject({ count: 4, messages: 3 });

    live.update("notification", { unread_count: 7 });
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(unread.count).toBe(7);
    expect(asked("/notifications/unread")).toBe(1);
  });

  test("are polled for while there is none", async () => {
    end = keepBadges();
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(asked("/notifications/unread")).toBeGreaterThan(5);

    const before = asked("/notifications/unread");
    live.state.set("online");
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(asked("/notifications/unread")).toBe(before);
  });

  test("ask once for a burst of messages", async () => {
    end = keepBadges();
    await vi.advanceTimersByTimeAsync(2_000);
    for (let count = 0; count < 20; count += 1) live.update("direct.message", { thread_id: "1" });
    await vi.advanceTimersByTimeAsync(5_000);

    expect(asked("/direct/unread")).toBe(3); // At the beginning, at once, and for those that came meanwhile.
  });

  test("are fetched anew after a reset", async () => {
    live.state.set("online");
    end = keepBadges();
    await vi.advanceTimersByTimeAsync(2_000);
    live.reset();
    await vi.advanceTimersByTimeAsync(2_000);

    expect([asked("/notifications/unread"), asked("/direct/unread")]).toEqual([2, 2]);
  });
});

describe("the posts on screen", () => {
  function show(...ids: string[]): void {
    document.body.innerHTML = ids.map((id) => `<article aria-labelledby="by-${id}"></article>`).join("");
    for (const article of document.querySelectorAll("article"))
      article.getBoundingClientRect = () => new DOMRect(0, 10, 100, 100);
  }
  const watched = () =>
    live.command.mock.calls.map(([, payload]) => (payload as { post_ids: string[] }).post_ids.join());

  beforeEach(() => {
    live.state.set("online");
    live.command.mockReset().mockResolvedValue({ posts: [] });
  });

  test("are named when they change, and again before the server forgets them", async () => {
    show("1", "2");
    end = watchPosts();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(watched()).toEqual(["1,2"]);

    show("3");
    await vi.advanceTimersByTimeAsync(65_000);
    expect(watched()).toEqual(["1,2", "3", "3"]);
    show();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(watched().at(-1)).toBe("");
    expect(watched()).toHaveLength(4);
  });

  test("have the counts that the server tells", async () => {
    const post = postStore.put(samplePost(1));
    const commented = vi.fn();
    const unsubscribe = onCommentsAdded(commented);
    live.command.mockResolvedValue({
      posts: [{ post_id: "1", like_count: 40, comment_count: 2, comments: [] }],
    });
    show("1");
    end = watchPosts();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(post).toMatchObject({ like_count: 40, comment_count: 2 });
    expect(commented).not.toHaveBeenCalled();

    const comments = [{ comment_id: "5", account_id: "8", username: "bo" }];
    live.signal("posts", { post_id: "1", like_count: 41, comment_count: 3, comments });
    expect(post).toMatchObject({ like_count: 41, comment_count: 3 });
    expect(commented).toHaveBeenCalledExactlyOnceWith("1");
    unsubscribe();
  });

  test("are not named without a connection", async () => {
    live.state.set("offline");
    show("1");
    end = watchPosts();
    await vi.advanceTimersByTimeAsync(10_000);

    expect(watched()).toEqual([]);
  });
});

test("bursts of calls are the first and one more", async () => {
  const work = vi.fn();
  const { call, cancel } = throttled(work, 1_000);
  for (let count = 0; count < 5; count += 1) call();
  expect(work).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(2);

  call();
  call();
  cancel();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(3);
});
