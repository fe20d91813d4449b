/** What a person may choose for this device, and how it is read back; without runes, for the script in the page (src/early). */
import { recall } from "./device";
import { isLocaleCode, type LocaleCode } from "./i18n/locales";

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

export const PREFS_KEY = "tintype.prefs";
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

/** What was stored on this device, as text. */
export const storedPrefs = (): string | null => recall(PREFS_KEY);
