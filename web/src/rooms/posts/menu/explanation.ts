/** Words for the ranking's explanation: its strongest signals, and a summary. */
import { language, type MessageKey, t } from "../../../base/i18n";
import type { Explanation } from "../../../client/feed";

const MAX_SIGNALS = 6;

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

/** The signals that contribute most in either direction. */
export function strongestSignals({ signals }: Explanation): Explanation["signals"] {
  const weight = ({ contributions }: Explanation["signals"][number]) =>
    Object.values(contributions).reduce((sum, each) => sum + Math.abs(each), 0);
  return signals
    .filter((signal) => weight(signal) > 0)
    .toSorted((a, b) => weight(b) - weight(a))
    .slice(0, MAX_SIGNALS);
}

/** The label of a signal; one that only a newer server knows has the server's description. */
export function signalLabel({ name, words }: Explanation["signals"][number]): string {
  const key = names[name];
  return key === undefined ? words : t(key);
}

/** The reasons as one or two sentences in the current language. */
export function summarize(found: Explanation): string {
  const known = found.reasons.flatMap((name) => reasons[name] ?? []);
  const listed = new Intl.ListFormat(language.code).format(known.map((key) => t(key)));
  const first = known.length === 0 ? t("posts.whyAge") : t("posts.whyHere", { reasons: listed });
  return found.reasons.includes("seen") ? `${first} ${t("posts.whySeen")}` : first;
}
