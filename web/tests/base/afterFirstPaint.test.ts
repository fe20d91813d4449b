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

test("idle work can be cancelled", async () => {
  const work = vi.fn();
  whenIdle(work)();
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(work).not.toHaveBeenCalled();
});
