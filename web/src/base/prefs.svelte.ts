/** What a person has chosen for this device: theme, language, shortcuts, endless loading. */

import { PREFS_KEY, type Prefs, readPrefs, storedPrefs, type Theme } from "./chosen";
import { remember } from "./device";

export type { FeedMode, Prefs, Theme } from "./chosen";

export const prefs: Prefs = $state(readPrefs(storedPrefs()));

/** The choice holds now and, where the browser allows storage, on the next visit. */
export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs[name] = value;
  remember(PREFS_KEY, JSON.stringify(prefs));
}

/** The page wears the chosen theme; "auto" leaves it to the device. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
