import { expect, test, vi } from "vitest";
import { firstPaint, markFirstPaint, watchFirstPaint, whenIdle } from "../../src/base/afterFirstPaint";

test("deferred work waits for the first image", async () => {
  const started = vi.fn();
  void firstPaint.then(started);
  watchFirstPaint(true);
  await Promise.resolve();
  expect(started).not.toHaveBeenCalled();

  markFirstPaint();
  await vi.waitFor(() => expect(started).toHaveBeenCalledOnce());
});

test("deferred work starts without an image too, also when the page had loaded before the app was mounted", async () => {
  vi.resetModules();
  const fresh = await import("../../src/base/afterFirstPaint");
  vi.useFakeTimers();
  const started = vi.fn();
  void fresh.firstPaint.then(started);
  expect(document.readyState).toBe("complete");
  fresh.watchFirstPaint(true);
  await vi.advanceTimersByTimeAsync(2_900);
  expect(started).not.toHaveBeenCalled();

  await vi.advanceTimersByTimeAsync(1_000);
  expect(started).toHaveBeenCalledOnce();
  vi.useRealTimers();
});

test("idle work can be cancelled", async () => {
  const work = vi.fn();
  whenIdle(work)();
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(work).not.toHaveBeenCalled();
});
