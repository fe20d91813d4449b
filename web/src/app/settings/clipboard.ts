/** Copies to the clipboard, which exists on secure pages only; elsewhere a toast says what to do instead. */
import { t } from "../../base/i18n";
import { toasts } from "../../ui";

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toasts.info(t("settings.codesCopied"));
  } catch {
    toasts.error(t("settings.copyFailed"));
  }
}
