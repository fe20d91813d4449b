import { afterEach, expect, test, vi } from "vitest";
import { shelf } from "../../src/rooms/posts";
import { awaitClip } from "../../src/rooms/posts/clip/arriving";
import { answer, problem } from "../client/answers";
import { samplePost } from "./sample";

afterEach(() => vi.useRealTimers());

test("a clip that is still being made is looked for again until somebody looks away", async () => {
  vi.useFakeTimers();
  const fetched = answer(problem(503, "unavailable"), { body: samplePost(7, { caption: "ready" }) });
  const post = shelf.put(samplePost(7));
  const stop = awaitClip("7");
  await vi.advanceTimersByTimeAsync(3_000);
  expect(post.caption).not.toBe("ready");
  await vi.advanceTimersByTimeAsync(4_500);
  expect(post.caption).toBe("ready");
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(fetched).toHaveBeenCalledTimes(2);
});
