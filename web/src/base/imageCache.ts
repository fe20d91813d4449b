/**
 * Cached images: which account they belong to, the name of its Cache Storage, and the keys in it. The service worker fills it.
 *
 * An image that one account may see is another's secret. So every account has a cache of its own, and the device has one
 * owner: whose session this is. Without an owner nothing is cached and nothing is answered from a cache.
 */

const PREFIX = "tintype-pictures";
/** Holds nothing but the owner's account id: the one store that pages and the service worker share without a schema. */
const OWNER_CACHE = "tintype-owner";
const OWNER_KEY = "/owner";

/** `/media/~EXPIRY.SIGNATURE/…`, the expiry in seconds. */
const SIGNATURE = /^\/media\/~(\d+)[^/]*\//;

/** The cache key of an image URL: its path without the expiring signature, which changes while the image does not. */
export function imageCacheKey(url: string): string {
  return new URL(url, location.href).pathname.replace(SIGNATURE, "/media/");
}

/** What the cache keys of all files of the same photo or video begin with. */
export function imageCacheFolder(url: string): string {
  return imageCacheKey(url).replace(/[^/]*$/, "");
}

/** When a signed URL of an image expires; null where it is public. */
export function readSignatureEnd(url: string): number | null {
  const found = SIGNATURE.exec(new URL(url, location.href).pathname);
  return found === null ? null : Number(found[1]) * 1_000;
}

export function imageCacheName(accountId: string): string {
  return `${PREFIX}-${accountId}`;
}

/** Whose data this device holds; null when nobody is signed in. */
export async function readOwner(): Promise<string | null> {
  const found = await (await caches.open(OWNER_CACHE)).match(OWNER_KEY);
  return (await found?.text()) ?? null;
}

/** Sets whose data this device holds, and deletes everybody else's images. */
export async function setImageOwner(accountId: string | null): Promise<void> {
  const owner = await caches.open(OWNER_CACHE);
  if (accountId === null) await owner.delete(OWNER_KEY);
  else await owner.put(OWNER_KEY, new Response(accountId));
  const kept = accountId === null ? null : imageCacheName(accountId);
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== kept);
  await Promise.all(others.map((name) => caches.delete(name)));
}
