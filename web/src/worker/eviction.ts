/** Which cached images to evict: those that the server has long not confirmed, then the least recently used. Pure. */

export interface CachedImage {
  readonly key: string;
  readonly bytes: number;
  readonly seen_ms: number;
  /** When the server last sent it, or said that it has not changed. Missing in entries of older releases. */
  readonly confirmed_ms?: number;
}

export interface CacheLimits {
  readonly count: number;
  readonly bytes: number;
  readonly unconfirmed_ms: number;
}

/** The keys of images that were not confirmed in time, and of so many others that the rest is within both limits. */
export function selectEvictions(
  images: readonly CachedImage[],
  limits: CacheLimits,
  now_ms: number,
): string[] {
  const isOutdated = ({ confirmed_ms, seen_ms }: CachedImage) =>
    now_ms - (confirmed_ms ?? seen_ms) > limits.unconfirmed_ms;
  const newestFirst = images.filter((image) => !isOutdated(image)).sort((a, b) => b.seen_ms - a.seen_ms);
  let bytes = 0;
  const firstEvicted = newestFirst.findIndex((image, index) => {
    bytes += image.bytes;
    return index >= limits.count || bytes > limits.bytes;
  });
  const evicted = firstEvicted < 0 ? [] : newestFirst.slice(firstEvicted);
  return [...images.filter(isOutdated), ...evicted].map(({ key }) => key);
}
