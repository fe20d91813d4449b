import { expect, test } from "vitest";
import { type CacheLimits, selectEvictions } from "../../src/worker/eviction";

const NOW_MS = 100;
const picture = (key: string, seen_ms: number, bytes = 10) => ({ key, seen_ms, bytes });
const limit = (changes: Partial<CacheLimits>) => ({
  count: 99,
  bytes: 999,
  unconfirmed_ms: 1_000,
  ...changes,
});

test("images within both limits stay", () => {
  expect(selectEvictions([picture("a", 1), picture("b", 2)], limit({ count: 2, bytes: 20 }), NOW_MS)).toEqual(
    [],
  );
});

test("the least recently used are evicted by count", () => {
  expect(
    selectEvictions(
      [picture("a", 3), picture("b", 1), picture("c", 2)],
      limit({ count: 1, bytes: 99 }),
      NOW_MS,
    ),
  ).toEqual(["c", "b"]);
});

test("and by size, so that one huge image does not evict newer ones", () => {
  const kept = [picture("new", 3), picture("huge", 2, 1000), picture("old", 1)];
  expect(selectEvictions(kept, limit({ bytes: 100 }), NOW_MS)).toEqual(["huge", "old"]);
});

test("what the server has not confirmed for too long is evicted, however recently it was seen", () => {
  const images = [
    { ...picture("confirmed", 10), confirmed_ms: 60 },
    { ...picture("unconfirmed", 99), confirmed_ms: 10 },
    picture("of an older release", 20),
  ];

  expect(selectEvictions(images, limit({ unconfirmed_ms: 50 }), NOW_MS)).toEqual([
    "unconfirmed",
    "of an older release",
  ]);
});
