/** The supported languages, their writing direction, and language negotiation. */

interface Locale {
  readonly name: string;
  readonly dir: "ltr" | "rtl";
}

export const locales = {
  en: { name: "English", dir: "ltr" },
  de: { name: "Deutsch", dir: "ltr" },
  ar: { name: "العربية", dir: "rtl" },
} as const satisfies Record<string, Locale>;

export type LocaleCode = keyof typeof locales;
export const localeCodes = Object.keys(locales) as LocaleCode[];

export function isLocaleCode(code: string): code is LocaleCode {
  return Object.hasOwn(locales, code);
}

/** English without a region is British, as the texts are. */
const DEFAULT_REGIONS: Partial<Record<LocaleCode, string>> = { en: "en-GB" };

/** How dates and numbers are written in a language: as in the visitor's own region, where the browser names one. */
export function formatLocale(code: LocaleCode, preferred: readonly string[]): string {
  return preferred.find((tag) => tag.toLowerCase().startsWith(`${code}-`)) ?? DEFAULT_REGIONS[code] ?? code;
}

/** The first of the preferred language tags that is supported; English when none is. */
export function negotiateLocale(preferred: readonly string[]): LocaleCode {
  const supported = preferred.map((tag) => tag.toLowerCase().split("-")[0] ?? "").find(isLocaleCode);
  return supported ?? "en";
}
