/** Cached images belong to one account: nobody else is answered from them, and they go when the account changes. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { imageCacheName, readOwner, setImageOwner } from "../../src/base/imageCache";
import { respondWithImage } from "../../src/worker/imageCache";
import { FakeCaches } from "./fakeCaches";

const START_MS = Date.parse("2026-03-10T12:00:00Z");
const PHOTO = "http://site.test/media/1/abc/1080.jpg";
const SIGNED = `http://site.test/media/~${START_MS / 1_000 + 3_600}.sig-nature/1/abc/1080.jpg`;
const KEY = "/media/1/abc/1080.jpg";
const MINUTES_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTES_MS;

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
  vi.useFakeTimers({ now: START_MS, toFake: ["Date", "setTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function respond(url = PHOTO): Promise<Response> {
  return respondWithImage(new Request(url), (work) => background.push(work));
}

const view = async (url = PHOTO) => (await respond(url)).text();

/** The image is in the cache, and the server has confirmed it so long ago. */
async function cacheEarlier(age_ms: number, url = PHOTO): Promise<void> {
  await setImageOwner("ana");
  await view(url);
  await settle();
  network.mockClear();
  vi.setSystemTime(START_MS + age_ms);
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

describe("an image that was cached a while ago", () => {
  test("is shown without asking when the server has just confirmed it", async () => {
    await cacheEarlier(9 * MINUTES_MS);
    await view();

    expect(network).not.toHaveBeenCalled();
  });

  test("is shown at once when it is public, and the server is asked meanwhile", async () => {
    await cacheEarlier(11 * MINUTES_MS);
    network.mockImplementation(async () => new Response("newer"));
    expect(await view()).toBe("from the network");
    await settle();

    expect(network).toHaveBeenCalledWith(expect.anything(), { cache: "no-cache" });
    expect(await view()).toBe("newer");
    expect(network).toHaveBeenCalledTimes(1);
  });

  test.each([401, 403, 404, 410])("is deleted when the server answers %i", async (status) => {
    await cacheEarlier(11 * MINUTES_MS);
    network.mockImplementation(async () => new Response("", { status }));
    await view();
    await settle();

    expect(cachedOf("ana")).toEqual([]);
    expect((await respond()).status).toBe(status);
  });

  test.each([429, 500, 503])("stays when the server answers %i", async (status) => {
    await cacheEarlier(11 * MINUTES_MS);
    network.mockImplementation(async () => new Response("", { status }));
    await view();
    await settle();

    expect(cachedOf("ana")).toEqual([KEY]);
  });

  test("is not shown when it is signed and the server refuses it", async () => {
    await cacheEarlier(2 * MINUTES_MS, SIGNED);
    network.mockImplementation(async () => new Response("", { status: 404 }));
    expect((await respond(SIGNED)).status).toBe(404);
    await settle();

    expect(cachedOf("ana")).toEqual([]);
  });

  test("is shown without a connection, signed or not", async () => {
    await cacheEarlier(20 * MINUTES_MS, SIGNED);
    network.mockRejectedValue(new TypeError("no network"));

    expect(await view(SIGNED)).toBe("from the network");
    expect(await view()).toBe("from the network");
    expect(cachedOf("ana")).toEqual([KEY]);
  });

  test("is shown when the server takes too long, and deleted when its refusal arrives", async () => {
    await cacheEarlier(2 * MINUTES_MS, SIGNED);
    let arrive: (response: Response) => void = () => {};
    network.mockImplementationOnce(() => new Promise((resolve) => (arrive = resolve)));
    const viewed = view(SIGNED);
    await vi.waitFor(() => expect(network).toHaveBeenCalled());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await viewed).toBe("from the network");
    arrive(new Response("", { status: 404 }));
    await settle();

    expect(cachedOf("ana")).toEqual([]);
  });

  test("is not asked for by a signature that has expired, whose refusal would say nothing", async () => {
    await cacheEarlier(61 * MINUTES_MS, SIGNED);
    await view(SIGNED);

    expect(network).not.toHaveBeenCalled();
  });

  test("is deleted when the server has not confirmed it for a week", async () => {
    await cacheEarlier(WEEK_MS + MINUTES_MS);
    network.mockRejectedValue(new TypeError("no network"));
    for (let looks = 0; looks < 20; looks += 1) await view().catch(() => {});
    await settle();

    expect(cachedOf("ana")).toEqual([]);
  });
});
