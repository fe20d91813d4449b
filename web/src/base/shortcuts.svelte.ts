/** Keyboard shortcuts of one key, or of two in sequence ("g h"). Pages register theirs while they are mounted; the help dialog lists them. */
import { SvelteSet } from "svelte/reactivity";
import type { MessageKey } from "./i18n";
import { prefs } from "./prefs.svelte";

export interface Shortcut {
  /** As in `KeyboardEvent.key`: "j", "?", "Escape"; two keys separated by a space are pressed one after the other. */
  readonly key: string;
  readonly label: MessageKey;
  readonly run: () => void;
  /** Works on every page, and is therefore listed last. */
  readonly isGlobal?: boolean;
}

/** How long the first key of a sequence waits for the second. */
const SEQUENCE_TIMEOUT_MS = 1_500;

class Shortcuts {
  readonly active = new SvelteSet<Shortcut>();
  #prefix = "";
  #pressed_ms = 0;

  /** The shortcuts of the current page first, then the global ones. */
  get listed(): Shortcut[] {
    return [...this.active].sort((a, b) => Number(a.isGlobal ?? false) - Number(b.isGlobal ?? false));
  }

  /** Registers shortcuts until the returned function is called; made for `$effect`. */
  add(...shortcuts: Shortcut[]): () => void {
    for (const shortcut of shortcuts) this.active.add(shortcut);
    return () => {
      for (const shortcut of shortcuts) this.active.delete(shortcut);
    };
  }

  /** Runs the most recently registered shortcut for the key, so that the topmost page wins. */
  readonly handle = (event: KeyboardEvent): void => {
    if (!isShortcutEvent(event)) return;
    const shortcut = this.#find(this.#takePrefix() + event.key) ?? this.#find(event.key);
    if (shortcut !== undefined) {
      event.preventDefault();
      shortcut.run();
    } else if ([...this.active].some(({ key }) => key.startsWith(`${event.key} `))) {
      this.#prefix = `${event.key} `;
      this.#pressed_ms = Date.now();
    }
  };

  #find(key: string): Shortcut | undefined {
    return [...this.active].reverse().find((shortcut) => shortcut.key === key);
  }

  /** The first key of a sequence if it was pressed just now; it is used up by this call. */
  #takePrefix(): string {
    const prefix = Date.now() - this.#pressed_ms < SEQUENCE_TIMEOUT_MS ? this.#prefix : "";
    this.#prefix = "";
    return prefix;
  }
}

/**
 * False while typing, with a modifier key, under a modal dialog, and when shortcuts are turned off; Escape always counts.
 * A page shown in a dialog (`data-page`) has shortcuts of its own.
 */
function isShortcutEvent(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (document.querySelector("dialog[open]:not([data-page])") !== null) return false;
  if (event.key === "Escape") return true;
  return prefs.shortcuts && !isEditable(event.target);
}

function isEditable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null
  );
}

export const shortcuts = new Shortcuts();
