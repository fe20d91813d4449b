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

test("a tab of the former account reads and writes nothing once another tab has signed in as somebody else", async () => {
  const store = new InMemoryObjectStore<never>();
  let owner = "me";
  const former = new OfflineCache(store, async (accountId) => accountId === owner);
  await former.setOwner("me");
  owner = "somebody else";
  const current = new OfflineCache(store, async (accountId) => accountId === owner);
  await current.setOwner("somebody else");
  await current.put("feed", ["theirs"]);
  await former.put("feed", ["mine"]);

  expect(await former.get("feed")).toBeNull();
  expect(await current.get("feed")).toEqual(["theirs"]);
});

test("after signing out nothing is read", async () => {
  const { cache, store } = open();
  await cache.setOwner("me");
  await cache.clear();
  const other = new OfflineCache(store);
  await other.setOwner("somebody else");
  await other.put("feed", ["theirs"]);

  expect(await cache.get("feed")).toBeNull();
});
