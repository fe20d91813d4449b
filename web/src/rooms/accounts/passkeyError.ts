/** The message for a failed passkey request, by what the browser objects to; the user cancelling it is not an error. */
import { t } from "../../base/i18n";
import { errorMessage } from "../../ui";

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "0.0.0.0"]);

export function passkeyErrorMessage(error: unknown, here: URL | Location = location): string {
  if (!(error instanceof Error || error instanceof DOMException)) return errorMessage(error);
  switch (error.name) {
    case "NotAllowedError":
    case "AbortError":
      return t("passkey.cancelled");
    case "SecurityError":
      return LOOPBACK.has(here.hostname)
        ? t("passkey.needsName", {
            address: `${here.protocol}//localhost${here.port ? `:${here.port}` : ""}`,
          })
        : t("passkey.wrongAddress");
    case "InvalidStateError":
      return t("passkey.alreadyHere");
    case "NotSupportedError":
    case "ConstraintError":
      return t("passkey.unsupported");
    default:
      return error instanceof DOMException ? t("passkey.failed") : errorMessage(error);
  }
}
