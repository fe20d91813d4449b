/** What a person has chosen for this device: theme, language, shortcuts, endless loading. */
import { isLocaleCode, type LocaleCode } from "./i18n";

export type Theme = "auto" | "light" | "dark";

/** "ranked" puts first what one would be sorry to miss; "following" is the plain order of time. */
export type FeedMode = "ranked" | "following";

export interface Prefs {
  theme: Theme;
  locale: LocaleCode | "auto";
  shortcuts: boolean;
  autoload: boolean;
  feed: FeedMode;
}

const KEY = "tintype.prefs";
const defaults: Prefs = { theme: "auto", locale: "auto", shortcuts: true, autoload: true, feed: "ranked" };

/** Whatever was stored, by us or by an older release, becomes valid preferences. */
export function readPrefs(text: string | null): Prefs {
  const stored = parse(text);
  const locale = stored["locale"];
  const theme = stored["theme"];
  return {
    theme: theme === "light" || theme === "dark" ? theme : defaults.theme,
    locale: typeof locale === "string" && isLocaleCode(locale) ? locale : defaults.locale,
    shortcuts: stored["shortcuts"] !== false,
    autoload: stored["autoload"] !== false,
    feed: stored["feed"] === "following" ? "following" : defaults.feed,
  };
}

function parse(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {}; // Damaged storage means defaults, never a page that does not start.
  }
}

function load(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // Storage may be forbidden by the browser: the app then forgets, and works.
  }
}

export const prefs: Prefs = $state(readPrefs(load()));

/** The choice holds now and, where the browser allows storage, on the next visit. */
export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // Storage may be full or forbidden; the choice still holds until the tab closes.
  }
}

/** The page wears the chosen theme; "auto" leaves it to the device. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
