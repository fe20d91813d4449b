/** Into the clipboard, which browsers offer on secure pages only: elsewhere it is said what to do instead. */
import { t } from "../../base/i18n";
import { toasts } from "../../ui";

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toasts.say(t("settings.codesCopied"));
  } catch {
    toasts.fail(t("settings.copyFailed"));
  }
}
