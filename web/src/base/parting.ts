/** Somebody went out of sight, wholly or in part: every room lets go of what it holds of them. */

export interface Parting {
  readonly accountId: string;
  /** "feed": they can be looked at where they are, and no longer come to one's own home. */
  readonly from: "everything" | "posts" | "stories" | "feed";
}

type Listener = (parting: Parting) => void;

const listeners = new Set<Listener>();

export function part(accountId: string, from: Parting["from"] = "everything"): void {
  for (const listener of listeners) listener({ accountId, from });
}

/** Returns how to stop listening. */
export function whenParted(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
