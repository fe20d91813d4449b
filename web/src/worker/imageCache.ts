/**
 * Images from a cache of the account that is signed in, so that they show without a connection. The cache is not the judge of
 * who may see them: an image that the server has not confirmed for some minutes is asked for again. A public one is shown
 * meanwhile, a signed one only when there is no answer. What the server refuses is deleted, and so is what it has not
 * confirmed for a week. The app deletes what it learns is gone, and everything when the account changes (src/offline/runtime).
 */
import { imageCacheKey, imageCacheName, readOwner, readSignatureEnd } from "../base/imageCache";
import { type ObjectStore, openObjectStore } from "../base/indexedDb";
import { type CachedImage, selectEvictions } from "./eviction";

const LIMITS = { count: 600, bytes: 80 * 1024 * 1024, unconfirmed_ms: 7 * 24 * 3_600_000 };
/** Eviction reads the whole index, so it runs when the worker starts and then once per this many writes. */
const EVICT_EVERY = 20;
/** How long the server's word on an image counts: for a signed one as long as an edge cache may hold a public one. */
const CONFIRMED_FOR_MS = { signed: 60_000, public: 600_000 };
/** How long a signed image waits for the server before it is shown from the cache. */
const NETWORK_TIMEOUT_MS = 3_000;
const CONFIRMED_AT = "X-Confirmed-At";
const REFUSED = [401, 403, 404, 410];

type WaitUntil = (work: Promise<unknown>) => void;

const index: ObjectStore<CachedImage> = openObjectStore<CachedImage>("pictures");
let handled = 0;

export function isImage(request: Request, url: URL): boolean {
  return request.destination === "image" && url.pathname.startsWith("/media/");
}

/** The image from the cache or else from the network; bookkeeping is handed to `waitUntil`. */
export async function respondWithImage(request: Request, waitUntil: WaitUntil): Promise<Response> {
  const owner = await readOwner();
  if (owner === null) return fetch(request);
  if (handled++ % EVICT_EVERY === 0) waitUntil(evict(owner));
  const key = imageCacheKey(request.url);
  const images = await caches.open(imageCacheName(owner));
  const cached = await images.match(key, { ignoreVary: true });
  if (cached === undefined) {
    const response = await fetch(request);
    if (response.status === 200) waitUntil(store(owner, key, response.clone()));
    return response;
  }
  waitUntil(index.update(key, (image) => ({ ...image, seen_ms: Date.now() })));
  return confirm(request, owner, key, cached, waitUntil);
}

/** The cached image if it may still be shown, or the server's refusal. */
async function confirm(
  request: Request,
  owner: string,
  key: string,
  cached: Response,
  waitUntil: WaitUntil,
): Promise<Response> {
  const end_ms = readSignatureEnd(request.url);
  const limit_ms = CONFIRMED_FOR_MS[end_ms === null ? "public" : "signed"];
  const isConfirmed = Date.now() - Number(cached.headers.get(CONFIRMED_AT)) < limit_ms;
  // A signature that has expired is refused whatever became of the image: the refusal would say nothing.
  if (isConfirmed || (end_ms !== null && end_ms <= Date.now())) return cached;
  const answer = askAgain(request, owner, key);
  waitUntil(answer);
  if (end_ms === null) return cached;
  return (await Promise.race([answer, timeout()])) ?? cached;
}

/** The server's response: the image, stored as confirmed, or its refusal; null when it could not say. */
async function askAgain(request: Request, owner: string, key: string): Promise<Response | null> {
  const response = await fetch(request, { cache: "no-cache" }).catch(() => null);
  if (response === null) return null;
  if (response.status === 200) {
    await store(owner, key, response.clone());
    return response;
  }
  if (!REFUSED.includes(response.status)) return null;
  await (await caches.open(imageCacheName(owner))).delete(key, { ignoreVary: true });
  await index.remove(key);
  return response;
}

function timeout(): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), NETWORK_TIMEOUT_MS));
}

async function store(owner: string, key: string, response: Response): Promise<void> {
  const body = await response.blob();
  const confirmed_ms = Date.now();
  const headers = { "Content-Type": body.type, [CONFIRMED_AT]: String(confirmed_ms) };
  const images = await caches.open(imageCacheName(owner));
  await images.put(key, new Response(body, { headers }));
  // The account may have changed since the request, and its cache been deleted: it must not come back.
  if ((await readOwner()) !== owner) return void (await caches.delete(imageCacheName(owner)));
  await index.put({ key, bytes: body.size, seen_ms: confirmed_ms, confirmed_ms });
}

async function evict(owner: string): Promise<void> {
  const images = await caches.open(imageCacheName(owner));
  const cached = new Set((await images.keys()).map(({ url }) => new URL(url).pathname));
  const all = await index.all();
  // Images that the app deleted from the cache are still in the index.
  const gone = all.filter(({ key }) => !cached.has(key)).map(({ key }) => key);
  const kept = all.filter(({ key }) => cached.has(key));
  const evicted = selectEvictions(kept, LIMITS, Date.now());
  await Promise.all(evicted.map((key) => images.delete(key)));
  await index.remove(...gone, ...evicted);
}
