/** What went wrong, in the reader's language, and what to do about it. */
import { language, type MessageKey, t } from "../base/i18n";
import { Problem } from "../client";

/** Refusals that mean the same as another one. */
const alike: Readonly<Record<string, string>> = {
  // A page left open while the session was renewed in another tab.
  csrf_token_wrong: "conflict",
};

/** Codes whose detail says more than our wording can; ours serves those who do not read English. */
const inOtherLanguages: Readonly<Record<string, MessageKey>> = {
  media_refused: "problem.unreadable",
};

const byStatus: Readonly<Record<number, MessageKey>> = {
  400: "problem.invalid",
  403: "problem.forbidden",
  404: "problem.not_found",
  409: "problem.conflict",
  413: "problem.too_large",
  415: "problem.unreadable",
  422: "problem.invalid",
  429: "problem.rate_limited",
  502: "problem.unavailable",
  503: "problem.unavailable",
  504: "problem.unavailable",
};

export function explain(error: unknown): string {
  if (!(error instanceof Problem)) return t("problem.unknown", { id: "–" });
  // A page that knows a refusal better brings its words along: "problem." and the code.
  const known = `problem.${alike[error.code] ?? error.code}`;
  if (known in language.catalogue && known !== "problem.unknown") return plain(known as MessageKey);
  // The server words its refusals in English, more exactly than a status can: good for English readers only.
  if (language.code === "en" && error.detail !== "" && error.status < 500) return error.detail;
  const likely = inOtherLanguages[error.code] ?? byStatus[error.status];
  return likely === undefined ? t("problem.unknown", { id: error.requestId || "–" }) : plain(likely);
}

/** Only messages without placeholders are named by a code. */
function plain(key: MessageKey): string {
  return t(key as "problem.offline");
}
