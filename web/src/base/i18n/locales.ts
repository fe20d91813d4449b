/** Which languages exist, how they are written, and which one suits a reader. */
import { en } from "./messages/en";
import type { Args, Message } from "./types";

type English = typeof en;
export type MessageKey = keyof English;
export type ArgsOf<K extends MessageKey> = Args<English[K]>;

/** A translation has every key; a plural stays a plural, because its callers pass a count. */
export type Catalogue = { readonly [K in MessageKey]: English[K] extends string ? string : Message };

interface Locale {
  readonly name: string;
  readonly dir: "ltr" | "rtl";
  readonly load: () => Promise<Catalogue>;
}

/** English ships with the app and stands in until another language has arrived. */
export const locales = {
  en: { name: "English", dir: "ltr", load: async () => en },
  de: { name: "Deutsch", dir: "ltr", load: async () => (await import("./messages/de")).de },
  ar: { name: "العربية", dir: "rtl", load: async () => (await import("./messages/ar")).ar },
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
