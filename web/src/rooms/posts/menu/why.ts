/** Which of the ranking's signals are worth naming to a person, and what they are called. */
import { language, type MessageKey, t } from "../../../base/i18n";
import type { Explanation } from "../../../client/feed";

const MOST = 6;

const names: Readonly<Record<string, Extract<MessageKey, `posts.signal${string}`>>> = {
  affinity: "posts.signalAffinity",
  interest: "posts.signalInterest",
  popularity: "posts.signalPopularity",
  freshness: "posts.signalFreshness",
  cadence: "posts.signalCadence",
  video: "posts.signalVideo",
  album: "posts.signalAlbum",
  seen: "posts.signalSeen",
};
const reasons: Readonly<Record<string, Extract<MessageKey, `posts.whyBecause${string}`>>> = {
  affinity: "posts.whyBecauseAffinity",
  interest: "posts.whyBecauseInterest",
  popularity: "posts.whyBecausePopularity",
  freshness: "posts.whyBecauseFreshness",
};

/** Those that weigh most, either way; what contributes nothing is left out. */
export function strongest({ signals }: Explanation): Explanation["signals"] {
  const weight = ({ contributions }: Explanation["signals"][number]) =>
    Object.values(contributions).reduce((sum, each) => sum + Math.abs(each), 0);
  return signals
    .filter((signal) => weight(signal) > 0)
    .toSorted((a, b) => weight(b) - weight(a))
    .slice(0, MOST);
}

/** A signal of a newer server has no name here yet: its own words have to do. */
export function nameOf({ name, words }: Explanation["signals"][number]): string {
  const key = names[name];
  return key === undefined ? words : t(key);
}

/** The reasons as one sentence or two, in the language of the reader. */
export function summaryOf(found: Explanation): string {
  const known = found.reasons.flatMap((name) => reasons[name] ?? []);
  const listed = new Intl.ListFormat(language.code).format(known.map((key) => t(key)));
  const first = known.length === 0 ? t("posts.whyAge") : t("posts.whyHere", { reasons: listed });
  return found.reasons.includes("seen") ? `${first} ${t("posts.whySeen")}` : first;
}
