/** How long messages are kept in threads where they disappear. */
import { language, t } from "../../base/i18n";
import type { Thread } from "../../client/direct";

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Seconds; 0 keeps them. */
export const LIFETIMES_S = [0, HOUR_S, DAY_S, 7 * DAY_S, 28 * DAY_S] as const;

/** "24 hours", "7 days", or that they are kept. */
export function lifetimeLabel(seconds: number): string {
  if (seconds === 0) return t("direct.keep");
  const [count, unit] = seconds < 2 * DAY_S ? [seconds / HOUR_S, "hour"] : [seconds / DAY_S, "day"];
  if (seconds < HOUR_S) return unitOf(seconds / 60, "minute");
  return unitOf(count as number, unit as string);
}

/** When the messages of a thread disappear, in a few words. */
export function lifetimeOf({ disappear_s, disappears_after }: Thread): string {
  const time = lifetimeLabel(disappear_s ?? 0);
  return disappear_s !== null && disappears_after === "seen" ? t("direct.timeAfterSeen", { time }) : time;
}

function unitOf(count: number, unit: string): string {
  return new Intl.NumberFormat(language.code, {
    style: "unit",
    unit,
    unitDisplay: "long",
    maximumFractionDigits: 0,
  }).format(count);
}
