/** Event bus: an account's content is no longer visible to the viewer (block, mute, unfollow), so every room removes its copy. */

export interface AccountHidden {
  readonly accountId: string;
  /** "feed": only the home feed drops them (unfollow); their profile stays visible. */
  readonly scope: "everything" | "posts" | "stories" | "feed";
}

type Listener = (event: AccountHidden) => void;

const listeners = new Set<Listener>();

export function announceHidden(accountId: string, scope: AccountHidden["scope"] = "everything"): void {
  for (const listener of listeners) listener({ accountId, scope });
}

/** Subscribes; returns a function that unsubscribes. */
export function onAccountHidden(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
