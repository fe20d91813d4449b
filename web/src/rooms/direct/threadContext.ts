/**
 * The thread on screen, for all components within it. There is one at a time, so a variable does: Svelte's context would be part
 * of what the first screen downloads.
 */
import type { Composer } from "./composer.svelte";
import type { Conversation } from "./conversation.svelte";

interface ThreadContext {
  readonly conversation: Conversation;
  readonly composer: Composer;
}

let current: ThreadContext | null = null;

/** Called by the pane before it renders what is in it. */
export function setThreadContext(context: ThreadContext): void {
  current = context;
}

/** Called while a component within the pane is created. */
export function getThreadContext(): ThreadContext {
  if (current === null) throw new Error("There is no thread on screen.");
  return current;
}
