/** What this browser keeps as text. Where it allows no storage, or has no room, nothing is kept and all else works. */
type Where = "localStorage" | "sessionStorage";

export function recall(key: string, where: Where = "localStorage"): string | null {
  try {
    return globalThis[where].getItem(key);
  } catch {
    return null;
  }
}

/** Null forgets it. */
export function remember(key: string, value: string | null, where: Where = "localStorage"): void {
  try {
    if (value === null) globalThis[where].removeItem(key);
    else globalThis[where].setItem(key, value);
  } catch {
    // What could not be kept is asked for, chosen or written again.
  }
}
