/** Tabs tell each other that the stored drafts have changed. */

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("tintype.drafts") : null;
const listeners = new Set<() => void>();

/** In this tab, too. */
export function announceChange(): void {
  channel?.postMessage(null);
  for (const listener of listeners) listener();
}

export function onDraftsChanged(listener: () => void): void {
  listeners.add(listener);
}

channel?.addEventListener("message", () => {
  for (const listener of listeners) listener();
});
