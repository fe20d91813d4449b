export { type Area, areas, loadWords, type MessageKey } from "./areas";
export { formatAgo, formatCount, formatMoment, language, t } from "./i18n.svelte";
export { isLocaleCode, type LocaleCode, localeCodes, locales, suitLocale } from "./locales";
