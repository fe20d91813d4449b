/** Times of the form field for a post's time, which is in the time zone of this device and has no seconds. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** The value of a `datetime-local` field for a moment. */
export function toField(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, "2026-01-31T12:00".length);
}

/** The moment that a `datetime-local` field names; null where it is empty. */
export function fromField(value: string): Date | null {
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** The full hour that is at least an hour away. */
export function suggestTime(now = new Date()): Date {
  return new Date(Math.ceil((now.getTime() + HOUR_MS) / HOUR_MS) * HOUR_MS);
}

/** Whether a post can be scheduled for this time: from the next minute, for a year. */
export function isPossible(at: Date | null, now = new Date()): at is Date {
  return at !== null && at > now && at.getTime() < now.getTime() + YEAR_MS;
}
