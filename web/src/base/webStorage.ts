/** localStorage and sessionStorage that never throw: where storage is blocked or full, nothing is saved and the app goes on. */
type StorageArea = "localStorage" | "sessionStorage";

export function readItem(key: string, area: StorageArea = "localStorage"): string | null {
  try {
    return globalThis[area].getItem(key);
  } catch {
    return null;
  }
}

/** Saves the value; null removes the item. */
export function writeItem(key: string, value: string | null, area: StorageArea = "localStorage"): void {
  try {
    if (value === null) globalThis[area].removeItem(key);
    else globalThis[area].setItem(key, value);
  } catch {
    // The value is simply missing on the next visit.
  }
}
