/** Which of the ranking's signals are worth naming to a person. */
import type { Explanation } from "../../../client/feed";

const MOST = 6;

/** Those that weigh most, either way; what contributes nothing is left out. */
export function strongest({ signals }: Explanation): Explanation["signals"] {
  const weight = ({ contributions }: Explanation["signals"][number]) =>
    Object.values(contributions).reduce((sum, each) => sum + Math.abs(each), 0);
  return signals
    .filter((signal) => weight(signal) > 0)
    .toSorted((a, b) => weight(b) - weight(a))
    .slice(0, MOST);
}
