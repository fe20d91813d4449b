import { expect, test } from "vitest";
import { selectEvictions } from "../../src/worker/eviction";

const picture = (key: string, seen_ms: number, bytes = 10) => ({ key, seen_ms, bytes });

test("images within both limits stay", () => {
  expect(selectEvictions([picture("a", 1), picture("b", 2)], { count: 2, bytes: 20 })).toEqual([]);
});

test("the least recently used are evicted by count", () => {
  expect(
    selectEvictions([picture("a", 3), picture("b", 1), picture("c", 2)], { count: 1, bytes: 99 }),
  ).toEqual(["c", "b"]);
});

test("and by size, so that one huge image does not evict newer ones", () => {
  const kept = [picture("new", 3), picture("huge", 2, 1000), picture("old", 1)];
  expect(selectEvictions(kept, { count: 99, bytes: 100 })).toEqual(["huge", "old"]);
});
