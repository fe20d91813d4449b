/** Event bus: the viewer has followed or unfollowed somebody, so every room shows it where it shows that person. */

type Listener = (accountId: string, isFollowed: boolean) => void;

const listeners = new Set<Listener>();

export function announceFollow(accountId: string, isFollowed: boolean): void {
  for (const listener of listeners) listener(accountId, isFollowed);
}

/** Subscribes; returns a function that unsubscribes. */
export function onFollowChanged(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
