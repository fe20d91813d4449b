/** A passkey that was not used is nobody's fault: say so, and nothing about errors. */
import { t } from "../../base/i18n";
import { explain } from "../../ui";

export function explainPasskey(error: unknown): string {
  const isTurnedDown =
    error instanceof DOMException || (error instanceof Error && error.name === "NotAllowedError");
  return isTurnedDown ? t("passkey.cancelled") : explain(error);
}
