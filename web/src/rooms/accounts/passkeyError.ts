/** The message for a failed passkey request; the user cancelling it is not an error. */
import { t } from "../../base/i18n";
import { errorMessage } from "../../ui";

export function passkeyErrorMessage(error: unknown): string {
  const isCancelled =
    error instanceof DOMException || (error instanceof Error && error.name === "NotAllowedError");
  return isCancelled ? t("passkey.cancelled") : errorMessage(error);
}
