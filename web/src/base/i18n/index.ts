export { formatAgo, formatCount, formatMoment, language, t } from "./i18n.svelte";
export { isLocaleCode, type LocaleCode, localeCodes, locales, type MessageKey, suitLocale } from "./locales";
