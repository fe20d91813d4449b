/** The message for an error in the current language: what went wrong and what to do. */
import { formatWait, language, type MessageKey, t } from "../base/i18n";
import { Problem } from "../client";

/** Codes that are shown like another one. */
const aliases: Readonly<Record<string, string>> = {
  // The page was open while the session was renewed in another tab.
  csrf_token_wrong: "conflict",
};

/** Codes whose server detail is more precise, but in English; other languages get this message. */
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

export function errorMessage(error: unknown): string {
  if (!(error instanceof Problem)) return t("problem.unknown", { id: "–" });
  if (error.code === "rate_limited" && error.retryAfterS > 0) {
    return t("problem.rate_limited_for", { wait: formatWait(error.retryAfterS) });
  }
  // Namespaces may bring messages for codes: "problem." and the code.
  const known = `problem.${aliases[error.code] ?? error.code}`;
  if (known in language.catalogue && known !== "problem.unknown") return plain(known as MessageKey);
  // The server's detail is in English and more precise than its status.
  if (language.code === "en" && error.detail !== "" && error.status < 500) return error.detail;
  const fallback = inOtherLanguages[error.code] ?? byStatus[error.status];
  return fallback === undefined ? t("problem.unknown", { id: error.requestId || "–" }) : plain(fallback);
}

/** Messages of codes and statuses have no placeholders. */
function plain(key: MessageKey): string {
  return t(key as "problem.offline");
}
