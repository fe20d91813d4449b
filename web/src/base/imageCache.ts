/** The Cache Storage of images already viewed: its name and its keys. The service worker fills it. */

export const IMAGE_CACHE = "tintype-pictures";

const SIGNATURE = /^\/media\/~[^/]+\//;

/** The cache key of an image URL: its path without the expiring signature, which changes while the image does not. */
export function imageCacheKey(url: string): string {
  return new URL(url, location.href).pathname.replace(SIGNATURE, "/media/");
}
