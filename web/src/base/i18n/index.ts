export {
  formatAgo,
  formatCount,
  formatMoment,
  formatPercent,
  formatSize,
  formatWait,
  language,
  t,
} from "./i18n.svelte";
export {
  formatLocale,
  isLocaleCode,
  type LocaleCode,
  localeCodes,
  locales,
  negotiateLocale,
} from "./locales";
export { loadMessages, type MessageKey, type Namespace, namespaces } from "./namespaces";
