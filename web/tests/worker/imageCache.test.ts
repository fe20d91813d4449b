/** Cached images belong to one account: nobody else is answered from them, and they go when the account changes. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { imageCacheName, readOwner, setImageOwner } from "../../src/base/imageCache";
import { respondWithImage } from "../../src/worker/imageCache";

const PHOTO = "http://site.test/media/~signed/abc/1080.jpg";
const KEY = "/media/abc/1080.jpg";

class FakeCache {
  readonly entries = new Map<string, Response>();
  match = async (key: string) => this.entries.get(key)?.clone();
  put = async (key: string, response: Response) => void this.entries.set(key, response);
  delete = async (key: string) => this.entries.delete(key);
  keys = async () => [...this.entries.keys()].map((path) => new Request(new URL(path, "http://site.test")));
}

class FakeCaches {
  readonly stores = new Map<string, FakeCache>();
  open = async (name: string) => {
    const found = this.stores.get(name) ?? new FakeCache();
    this.stores.set(name, found);
    return found;
  };
  keys = async () => [...this.stores.keys()];
  delete = async (name: string) => this.stores.delete(name);
}

let stored: FakeCaches;
let background: Promise<unknown>[];
const network = vi.fn<(request: Request) => Promise<Response>>();

beforeEach(() => {
  stored = new FakeCaches();
  background = [];
  network.mockReset().mockImplementation(async () => new Response("from the network"));
  vi.stubGlobal("caches", stored);
  vi.stubGlobal("fetch", network);
  vi.stubGlobal("location", { href: "http://site.test/" });
});
afterEach(() => vi.unstubAllGlobals());

async function view(): Promise<string> {
  const response = await respondWithImage(new Request(PHOTO), (work) => background.push(work));
  return response.text();
}

const settle = async () => void (await Promise.all(background.splice(0)));
const cachedOf = (accountId: string) => [
  ...(stored.stores.get(imageCacheName(accountId))?.entries.keys() ?? []),
];

test("an image is answered from its own account's cache", async () => {
  await setImageOwner("ana");
  await view();
  await settle();
  await view();

  expect(network).toHaveBeenCalledTimes(1);
  expect(cachedOf("ana")).toEqual([KEY]);
});

test("another account gets nothing of it, and it is gone", async () => {
  await setImageOwner("ana");
  await view();
  await settle();
  await setImageOwner("bo");
  await view();

  expect(network).toHaveBeenCalledTimes(2);
  expect(cachedOf("ana")).toEqual([]);
});

test("a guest is answered by the network, and nothing is kept", async () => {
  await setImageOwner("ana");
  await view();
  await settle();
  await setImageOwner(null);
  await view();
  await settle();

  expect(network).toHaveBeenCalledTimes(2);
  expect(await readOwner()).toBeNull();
  expect((await stored.keys()).filter((name) => name.startsWith("tintype-pictures"))).toEqual([]);
});

test("an image that arrives after the account changed is not kept for the next one, nor for this one's return", async () => {
  await setImageOwner("ana");
  let arrive: (response: Response) => void = () => {};
  network.mockImplementationOnce(() => new Promise((resolve) => (arrive = resolve)));
  const viewed = view();
  await vi.waitFor(() => expect(network).toHaveBeenCalled());
  await setImageOwner("bo");
  arrive(new Response("late"));
  expect(await viewed).toBe("late");
  await settle();

  expect(cachedOf("ana")).toEqual([]);
  expect(cachedOf("bo")).toEqual([]);
});

test("images of releases that kept them for everybody are deleted", async () => {
  await (await stored.open("tintype-pictures")).put(KEY, new Response("old"));
  await setImageOwner("ana");

  expect(await stored.keys()).not.toContain("tintype-pictures");
});
