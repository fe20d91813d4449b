/** Loads what few people need, with its messages. */
import { language } from "../base/i18n";

export async function loadSuspendedPage() {
  await language.loadNamespaces("accounts", "moderation", "settings");
  return (await import("./SuspendedPage.svelte")).default;
}

export async function loadReportDialog() {
  await language.loadNamespaces("moderation");
  return (await import("../rooms/moderation/ReportDialog.svelte")).default;
}
