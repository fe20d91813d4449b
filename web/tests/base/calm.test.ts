import { expect, test, vi } from "vitest";
import { becomeCalm, calm, expectCalm, whenQuiet } from "../../src/base/calm";

test("what can wait waits for the first picture, and a page without one is calm once it is loaded", async () => {
  const begun = vi.fn();
  void calm.then(begun);
  expectCalm(true);
  await Promise.resolve();
  expect(begun).not.toHaveBeenCalled();

  becomeCalm();
  await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce());
});

test("quiet work can be called off", async () => {
  const work = vi.fn();
  whenQuiet(work)();
  await new Promise((resolve) => setTimeout(resolve, 120));
  expect(work).not.toHaveBeenCalled();
});
