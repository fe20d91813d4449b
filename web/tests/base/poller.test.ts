import { expect, test } from "vitest";
import { pollDelay } from "../../src/base/poller";

test("polling backs off exponentially while the server does not answer", () => {
  expect([0, 1, 2, 3, 10].map((failures) => pollDelay(failures))).toEqual([
    60_000, 120_000, 240_000, 480_000, 960_000,
  ]);
  expect([0, 1, 10].map((failures) => pollDelay(failures, 6_000))).toEqual([6_000, 12_000, 960_000]);
});
