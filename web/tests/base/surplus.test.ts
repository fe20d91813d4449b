import { expect, test } from "vitest";
import { surplus } from "../../src/worker/surplus";

const picture = (key: string, seen_ms: number, bytes = 10) => ({ key, seen_ms, bytes });

test("pictures within both limits stay", () => {
  expect(surplus([picture("a", 1), picture("b", 2)], { count: 2, bytes: 20 })).toEqual([]);
});

test("those seen longest ago go first, by count", () => {
  expect(surplus([picture("a", 3), picture("b", 1), picture("c", 2)], { count: 1, bytes: 99 })).toEqual([
    "c",
    "b",
  ]);
});

test("and by size, so that one huge picture does not push out everything newer", () => {
  const kept = [picture("new", 3), picture("huge", 2, 1000), picture("old", 1)];
  expect(surplus(kept, { count: 99, bytes: 100 })).toEqual(["huge", "old"]);
});
