/** Which cached images to evict: least recently used first. Pure. */

export interface CachedImage {
  readonly key: string;
  readonly bytes: number;
  readonly seen_ms: number;
}

export interface CacheLimits {
  readonly count: number;
  readonly bytes: number;
}

/** The keys of the least recently used images, so many that the rest is within both limits. */
export function selectEvictions(images: readonly CachedImage[], limits: CacheLimits): string[] {
  const newestFirst = [...images].sort((a, b) => b.seen_ms - a.seen_ms);
  let bytes = 0;
  const firstEvicted = newestFirst.findIndex((image, index) => {
    bytes += image.bytes;
    return index >= limits.count || bytes > limits.bytes;
  });
  return firstEvicted < 0 ? [] : newestFirst.slice(firstEvicted).map(({ key }) => key);
}
