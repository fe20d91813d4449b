import { afterEach, expect, test, vi } from "vitest";
import { postStore } from "../../src/rooms/posts";
import { pollUntilReady } from "../../src/rooms/posts/video/pollUntilReady";
import { problem, respondWith } from "../client/fakeFetch";
import { samplePost } from "./samplePosts";

afterEach(() => vi.useRealTimers());

test("a video being transcoded is polled until the poll is stopped", async () => {
  vi.useFakeTimers();
  const fetched = respondWith(problem(503, "unavailable"), { body: samplePost(7, { caption: "ready" }) });
  const post = postStore.put(samplePost(7));
  const stop = pollUntilReady("7");
  await vi.advanceTimersByTimeAsync(3_000);
  expect(post.caption).not.toBe("ready");
  await vi.advanceTimersByTimeAsync(4_500);
  expect(post.caption).toBe("ready");
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetched).toHaveBeenCalledTimes(2);
});
