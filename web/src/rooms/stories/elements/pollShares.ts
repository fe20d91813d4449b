/** Percentages of a poll that add up to 100, whatever the rounding: the largest remainders get the rest. Pure. */
export function shares(counts: readonly number[]): readonly number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return counts.map(() => 0);
  const exact = counts.map((count) => (count * 100) / total);
  const whole = exact.map(Math.floor);
  const missing = 100 - whole.reduce((sum, part) => sum + part, 0);
  const byRemainder = exact
    .map((part, index) => ({ index, rest: part - Math.floor(part) }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index)
    .slice(0, missing)
    .map(({ index }) => index);
  return whole.map((part, index) => (part + (byRemainder.includes(index) ? 1 : 0)) / 100);
}
