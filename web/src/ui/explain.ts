/** What went wrong, in the reader's language, and what to do about it. */
import { language, type MessageKey, t } from "../base/i18n";
import { Problem } from "../client";

const byCode: Readonly<Record<string, MessageKey>> = {
  offline: "problem.offline",
  timeout: "problem.timeout",
  not_signed_in: "problem.not_signed_in",
  credentials_wrong: "problem.credentials_wrong",
  username_taken: "problem.username_taken",
  username_refused: "problem.username_refused",
  password_refused: "problem.password_refused",
  rate_limited: "problem.rate_limited",
  too_large: "problem.too_large",
  unavailable: "problem.unavailable",
  // A page left open while the session was renewed in another tab.
  csrf_token_wrong: "problem.conflict",
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
  const known = byCode[error.code];
  if (known !== undefined) return plain(known);
  // The server words its refusals in English, more exactly than a status can: good for English readers only.
  if (language.code === "en" && error.detail !== "" && error.status < 500) return error.detail;
  const likely = inOtherLanguages[error.code] ?? byStatus[error.status];
  return likely === undefined ? t("problem.unknown", { id: error.requestId || "–" }) : plain(likely);
}

/** The tables above name only messages without placeholders. */
function plain(key: MessageKey): string {
  return t(key as "problem.offline");
}
