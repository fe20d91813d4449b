/** Minutes after midnight as a clock shows them, and back; pure. */

export function asClock(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

export function asMinutes(clock: string): number | null {
  const [, hours, minutes] = /^(\d{2}):(\d{2})/.exec(clock) ?? [];
  return hours === undefined || minutes === undefined ? null : Number(hours) * 60 + Number(minutes);
}
