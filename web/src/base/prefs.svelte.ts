/** Preferences of this device: theme, language, keyboard shortcuts, infinite scrolling, feed order. */

import { PREFS_KEY, type Prefs, readPrefs, storedPrefs, type Theme } from "./storedPrefs";
import { writeItem } from "./webStorage";

export type { FeedMode, Prefs, Theme } from "./storedPrefs";

export const prefs: Prefs = $state(readPrefs(storedPrefs()));

/** Changes a preference now and, where the browser allows storage, for later visits. */
export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs[name] = value;
  writeItem(PREFS_KEY, JSON.stringify(prefs));
}

/** Applies the theme to the document; "auto" follows the operating system. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
