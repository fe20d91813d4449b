/** Shortcuts of one key, or of two in a row ("g h"): pages register theirs while they are shown, the help dialog lists whatever is registered. */
import { SvelteSet } from "svelte/reactivity";
import type { MessageKey } from "./i18n";
import { prefs } from "./prefs.svelte";

export interface Shortcut {
  /** As `KeyboardEvent.key` says it: "j", "?", "Escape"; two of them with a space between are pressed in a row. */
  readonly key: string;
  readonly label: MessageKey;
  readonly run: () => void;
  /** Works on every page, and so stands at the end of the list. */
  readonly isGlobal?: boolean;
}

/** So long the first key of two waits for the second. */
const WAITS_MS = 1_500;

class Shortcuts {
  readonly active = new SvelteSet<Shortcut>();
  #first = "";
  #pressed_ms = 0;

  /** This page's own first, then those of the whole app. */
  get listed(): Shortcut[] {
    return [...this.active].sort((a, b) => Number(a.isGlobal ?? false) - Number(b.isGlobal ?? false));
  }

  /** The shortcuts work until the returned function is called; made for `$effect`. */
  add(...shortcuts: Shortcut[]): () => void {
    for (const shortcut of shortcuts) this.active.add(shortcut);
    return () => {
      for (const shortcut of shortcuts) this.active.delete(shortcut);
    };
  }

  /** Runs the newest shortcut for the key, so that what opened last answers first. */
  readonly handle = (event: KeyboardEvent): void => {
    if (!isMeant(event)) return;
    const shortcut = this.#find(this.#taken() + event.key) ?? this.#find(event.key);
    if (shortcut !== undefined) {
      event.preventDefault();
      shortcut.run();
    } else if ([...this.active].some(({ key }) => key.startsWith(`${event.key} `))) {
      this.#first = `${event.key} `;
      this.#pressed_ms = Date.now();
    }
  };

  #find(key: string): Shortcut | undefined {
    return [...this.active].reverse().find((shortcut) => shortcut.key === key);
  }

  /** The first key of two, if it was pressed a moment ago; it counts once. */
  #taken(): string {
    const first = Date.now() - this.#pressed_ms < WAITS_MS ? this.#first : "";
    this.#first = "";
    return first;
  }
}

/**
 * Not while typing, not with a modifier, not under a dialog, and not when turned off. Escape is no letter: it stays.
 * A dialog that is a page of its own has keys of its own.
 */
function isMeant(event: KeyboardEvent): boolean {
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
