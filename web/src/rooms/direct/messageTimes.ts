/** Times of messages: days between them, the hour beside them, short times in the inbox. */
import { language } from "../../base/i18n";

const DAY_MS = 86_400_000;

/** "Today", "Yesterday", the weekday within a week, then the date. */
export function formatDay(iso: string, now: Date = language.now): string {
  const at = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (days < 2)
    return capitalised(new Intl.RelativeTimeFormat(language.code, { numeric: "auto" }).format(-days, "day"));
  if (days < 7) return new Intl.DateTimeFormat(language.code, { weekday: "long" }).format(at);
  const year = at.getFullYear() === now.getFullYear() ? {} : ({ year: "numeric" } as const);
  return new Intl.DateTimeFormat(language.code, { day: "numeric", month: "long", ...year }).format(at);
}

export function formatHour(iso: string): string {
  return new Intl.DateTimeFormat(language.code, { hour: "numeric", minute: "2-digit" }).format(new Date(iso));
}

/** The hour today, the weekday within a week, then the date. */
export function formatShort(iso: string, now: Date = language.now): string {
  const at = new Date(iso);
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (days <= 0) return formatHour(iso);
  if (days < 7) return new Intl.DateTimeFormat(language.code, { weekday: "short" }).format(at);
  const year = at.getFullYear() === now.getFullYear() ? {} : ({ year: "2-digit" } as const);
  return new Intl.DateTimeFormat(language.code, { day: "numeric", month: "numeric", ...year }).format(at);
}

/** "1:05", for recordings. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}

function capitalised(text: string): string {
  return text.charAt(0).toLocaleUpperCase(language.code) + text.slice(1);
}
