/** Turns a message and its parameters into text; pure, so that every language can be tested without a browser. */
import type { Message } from "./types";

export type Values = Readonly<Record<string, string | number>>;

/** Text in `locale`: the right plural form, numbers grouped the local way. */
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

/** Intl objects take about a millisecond to make and are asked for on every post: keep one per locale. */
function remembered<T>(make: (locale: string) => T): (locale: string) => T {
  const made = new Map<string, T>();
  return (locale) => {
    const known = made.get(locale);
    if (known !== undefined) return known;
    const fresh = make(locale);
    made.set(locale, fresh);
    return fresh;
  };
}

const plurals = remembered((locale) => new Intl.PluralRules(locale));
const numbers = remembered((locale) => new Intl.NumberFormat(locale));
const compact = remembered(
  (locale) => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }),
);
const relative = remembered(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }),
);
const dates = remembered((locale) => new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" }));
const fullDates = remembered((locale) => new Intl.DateTimeFormat(locale, { dateStyle: "medium" }));
const moments = remembered(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" }),
);

/** 950, 1.2K, 3.4M: as short as a button needs, the way the language writes it. */
export function renderCount(count: number, locale: string): string {
  return compact(locale).format(count);
}

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

/** "5 min. ago" within a week, then the date, with its year once the year differs. */
export function renderAgo(at: Date, now: Date, locale: string): string {
  const age_s = Math.max(0, (now.getTime() - at.getTime()) / 1000);
  const words = relative(locale);
  if (age_s < MINUTE_S) return words.format(0, "second");
  if (age_s < HOUR_S) return words.format(-Math.floor(age_s / MINUTE_S), "minute");
  if (age_s < DAY_S) return words.format(-Math.floor(age_s / HOUR_S), "hour");
  if (age_s < 7 * DAY_S) return words.format(-Math.floor(age_s / DAY_S), "day");
  return (at.getFullYear() === now.getFullYear() ? dates : fullDates)(locale).format(at);
}

/** The exact moment in words, for tooltips and screen readers. */
export function renderMoment(at: Date, locale: string): string {
  return moments(locale).format(at);
}
