/** Which pictures no longer fit; pure. */

export interface Kept {
  readonly key: string;
  readonly bytes: number;
  readonly seen_ms: number;
}

export interface Most {
  readonly count: number;
  readonly bytes: number;
}

/** Those seen longest ago, until the rest is within both limits. */
export function surplus(kept: readonly Kept[], most: Most): string[] {
  const newestFirst = [...kept].sort((a, b) => b.seen_ms - a.seen_ms);
  let bytes = 0;
  const keepable = newestFirst.findIndex((picture, index) => {
    bytes += picture.bytes;
    return index >= most.count || bytes > most.bytes;
  });
  return keepable < 0 ? [] : newestFirst.slice(keepable).map(({ key }) => key);
}
