/** Responses cached for offline, per account. */
import { expect, test } from "vitest";
import { InMemoryObjectStore } from "../../src/base/indexedDb";
import { OfflineCache } from "../../src/offline/offlineCache";

const open = () => {
  const store = new InMemoryObjectStore<never>();
  return { store, cache: new OfflineCache(store) };
};

test("values stored before the account is known are kept once it is", async () => {
  const { cache } = open();
  await cache.put("feed", ["a"]);
  await cache.put("feed", ["b"]);
  expect(await cache.get("feed")).toBeNull();
  await cache.setOwner("me");

  expect(await cache.get("feed")).toEqual(["b"]);
});

test("a response that arrives after signing out is not cached", async () => {
  const { cache, store } = open();
  await cache.setOwner("me");
  await cache.clear();
  await cache.put("feed", ["a"]);
  await cache.setOwner("somebody else");

  expect(await store.all()).toEqual([]);
});

test("another account's values are deleted", async () => {
  const { cache, store } = open();
  await cache.setOwner("me");
  await cache.put("feed", ["a"]);
  await cache.setOwner("somebody else");

  expect(await store.all()).toEqual([]);
});
