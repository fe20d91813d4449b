/** The preferences stored on this device and how they are parsed; without runes, so that the inline script (src/bootstrap) can use it. */

import { isLocaleCode, type LocaleCode } from "./i18n/locales";
import { readItem } from "./webStorage";

export type Theme = "auto" | "light" | "dark";

/** "ranked" is the scored feed; "following" is purely chronological. */
export type FeedMode = "ranked" | "following";

export interface Prefs {
  theme: Theme;
  locale: LocaleCode | "auto";
  shortcuts: boolean;
  autoload: boolean;
  feed: FeedMode;
}

export const PREFS_KEY = "tintype.prefs";
const defaults: Prefs = { theme: "auto", locale: "auto", shortcuts: true, autoload: true, feed: "ranked" };

/** Parses stored preferences; whatever an older release stored, the result is valid. */
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
    return {}; // Corrupt storage means defaults; it must not keep the page from starting.
  }
}

/** The stored preferences as raw JSON, or null. */
export const storedPrefs = (): string | null => readItem(PREFS_KEY);
