/** Event bus: somebody else has commented on a post that is on screen. */

type Listener = (postId: string) => void;

const listeners = new Set<Listener>();

export function announceComments(postId: string): void {
  for (const listener of listeners) listener(postId);
}

/** Subscribes; returns a function that unsubscribes. */
export function onCommentsAdded(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
