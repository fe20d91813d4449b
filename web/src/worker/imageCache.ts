/**
 * Cache-first images, in a cache of the account that is signed in. The app deletes it when the account changes, and images of
 * stories when they expire (src/offline/runtime).
 */
import { imageCacheKey, imageCacheName, readOwner } from "../base/imageCache";
import { type ObjectStore, openObjectStore } from "../base/indexedDb";
import { type CachedImage, selectEvictions } from "./eviction";

const LIMITS = { count: 600, bytes: 80 * 1024 * 1024 };
/** Eviction reads the whole index, so it runs only once per this many writes. */
const EVICT_EVERY = 20;

const index: ObjectStore<CachedImage> = openObjectStore<CachedImage>("pictures");
let writes = 0;

export function isImage(request: Request, url: URL): boolean {
  return request.destination === "image" && url.pathname.startsWith("/media/");
}

/** The image from the cache or else from the network; bookkeeping is handed to `waitUntil`. */
export async function respondWithImage(
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Response> {
  const owner = await readOwner();
  if (owner === null) return fetch(request);
  const key = imageCacheKey(request.url);
  const images = await caches.open(imageCacheName(owner));
  const cached = await images.match(key, { ignoreVary: true });
  if (cached !== undefined) {
    waitUntil(index.update(key, (image) => ({ ...image, seen_ms: Date.now() })));
    return cached;
  }
  const response = await fetch(request);
  if (response.status === 200) waitUntil(store(owner, key, response.clone()));
  return response;
}

async function store(owner: string, key: string, response: Response): Promise<void> {
  const body = await response.blob();
  const images = await caches.open(imageCacheName(owner));
  await images.put(key, new Response(body, { headers: { "Content-Type": body.type } }));
  // The account may have changed since the request, and its cache been deleted: it must not come back.
  if ((await readOwner()) !== owner) return void (await caches.delete(imageCacheName(owner)));
  await index.put({ key, bytes: body.size, seen_ms: Date.now() });
  writes += 1;
  if (writes % EVICT_EVERY === 0) await evict(owner);
}

async function evict(owner: string): Promise<void> {
  const images = await caches.open(imageCacheName(owner));
  const cached = new Set((await images.keys()).map(({ url }) => new URL(url).pathname));
  const all = await index.all();
  // Images that the app deleted from the cache are still in the index.
  const gone = all.filter(({ key }) => !cached.has(key)).map(({ key }) => key);
  const evicted = selectEvictions(
    all.filter(({ key }) => cached.has(key)),
    LIMITS,
  );
  await Promise.all(evicted.map((key) => images.delete(key)));
  await index.remove(...gone, ...evicted);
}
