/** Renders messages, numbers and dates for a locale. Pure functions, testable without a browser. */
import type { Message } from "./types";

export type Values = Readonly<Record<string, string | number>>;

/** The message in its plural form for `count`, with its placeholders filled and numbers formatted for the locale. */
export function render(message: Message, locale: string, values: Values = {}): string {
  return pick(message, locale, values).replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? numbers(locale).format(value) : value;
  });
}

function pick(message: Message, locale: string, values: Values): string {
  if (typeof message === "string") return message;
  const count = values["count"];
  const category = typeof count === "number" ? plurals(locale).select(count) : "other";
  return message[category] ?? message.other;
}

/** Memoises by locale: Intl objects take about a millisecond to construct and every post needs several. */
function memoized<T>(make: (locale: string) => T): (locale: string) => T {
  const cache = new Map<string, T>();
  return (locale) => {
    const known = cache.get(locale);
    if (known !== undefined) return known;
    const fresh = make(locale);
    cache.set(locale, fresh);
    return fresh;
  };
}

const plurals = memoized((locale) => new Intl.PluralRules(locale));
const numbers = memoized((locale) => new Intl.NumberFormat(locale));
const compact = memoized(
  (locale) => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }),
);
const relative = memoized(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }),
);
const waits = memoized((locale) => new Intl.RelativeTimeFormat(locale));
const dates = memoized((locale) => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }));
const fullDates = memoized((locale) => new Intl.DateTimeFormat(locale, { dateStyle: "medium" }));
const moments = memoized(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" }),
);

/** A compact number for buttons: 950, 1.2K, 3.4M. */
export function renderCount(count: number, locale: string): string {
  return compact(locale).format(count);
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** "5 min. ago" within a week, later the date; with the year when it is not the current one. */
export function renderAgo(at: Date, now: Date, locale: string): string {
  const age_s = Math.max(0, (now.getTime() - at.getTime()) / 1000);
  const format = relative(locale);
  if (age_s < MINUTE_S) return format.format(0, "second");
  if (age_s < HOUR_S) return format.format(-Math.floor(age_s / MINUTE_S), "minute");
  if (age_s < DAY_S) return format.format(-Math.floor(age_s / HOUR_S), "hour");
  if (age_s < 7 * DAY_S) return format.format(-Math.floor(age_s / DAY_S), "day");
  return (at.getFullYear() === now.getFullYear() ? dates : fullDates)(locale).format(at);
}

/** The full date and time, for tooltips and screen readers. */
export function renderMoment(at: Date, locale: string): string {
  return moments(locale).format(at);
}

/** "in 5 minutes": how long to wait, rounded up. */
export function renderWait(seconds: number, locale: string): string {
  const format = waits(locale);
  if (seconds < 2 * MINUTE_S) return format.format(Math.max(1, Math.ceil(seconds)), "second");
  if (seconds < 2 * HOUR_S) return format.format(Math.ceil(seconds / MINUTE_S), "minute");
  if (seconds < 2 * DAY_S) return format.format(Math.ceil(seconds / HOUR_S), "hour");
  return format.format(Math.ceil(seconds / DAY_S), "day");
}

/** "1.5 GB": a size in the unit that leaves a number below a thousand. */
export function renderSize(bytes: number, locale: string): string {
  const units = ["kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
  const at = bytes < 1e6 ? 0 : bytes < 1e9 ? 1 : bytes < 1e12 ? 2 : 3;
  const format = { style: "unit", unit: units[at] ?? "megabyte", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(locale, format).format(bytes / 1000 ** (at + 1));
}
