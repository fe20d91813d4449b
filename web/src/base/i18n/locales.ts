/** Which languages exist, how they are written, and which one suits a reader. */

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

/** The reader's first language that we speak; English when there is none. */
export function suitLocale(wanted: readonly string[]): LocaleCode {
  const spoken = wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "").find(isLocaleCode);
  return spoken ?? "en";
}
