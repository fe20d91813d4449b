/** Cache-first images. The app deletes all of them at sign-out, and those of stories when they expire (src/offline/runtime). */
import { IMAGE_CACHE, imageCacheKey } from "../base/imageCache";
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
  const key = imageCacheKey(request.url);
  const images = await caches.open(IMAGE_CACHE);
  const cached = await images.match(key, { ignoreVary: true });
  if (cached !== undefined) {
    waitUntil(index.update(key, (image) => ({ ...image, seen_ms: Date.now() })));
    return cached;
  }
  const response = await fetch(request);
  if (response.status === 200) waitUntil(store(key, response.clone()));
  return response;
}

async function store(key: string, response: Response): Promise<void> {
  const body = await response.blob();
  const images = await caches.open(IMAGE_CACHE);
  await images.put(key, new Response(body, { headers: { "Content-Type": body.type } }));
  await index.put({ key, bytes: body.size, seen_ms: Date.now() });
  writes += 1;
  if (writes % EVICT_EVERY === 0) await evict();
}

async function evict(): Promise<void> {
  const images = await caches.open(IMAGE_CACHE);
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
