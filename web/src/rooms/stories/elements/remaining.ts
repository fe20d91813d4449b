/** What a countdown shows. Pure. */

export interface Left {
  readonly unit: "days" | "hours" | "minutes" | "seconds";
  readonly value: string;
}

const UNITS = [
  ["days", 86_400],
  ["hours", 3_600],
  ["minutes", 60],
  ["seconds", 1],
] as const;
const SHOWN = 3;

/** The three largest units that are left, beginning with the first that is not zero; null when the time has come. */
export function remaining(left_ms: number): readonly Left[] | null {
  if (left_ms <= 0) return null;
  let rest_s = Math.ceil(left_ms / 1_000);
  const all = UNITS.map(([unit, size_s]) => {
    const value = Math.floor(rest_s / size_s);
    rest_s -= value * size_s;
    return { unit, value: unit === "days" ? String(value) : String(value).padStart(2, "0") };
  });
  return Number(all[0]?.value) > 0 ? all.slice(0, SHOWN) : all.slice(1);
}
