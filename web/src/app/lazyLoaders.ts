/** Loads what few people need, with its messages. */
import { language } from "../base/i18n";

export async function loadSuspendedPage() {
  await language.loadNamespaces("accounts", "moderation", "settings");
  return (await import("./SuspendedPage.svelte")).default;
}

export async function loadShortcutsDialog() {
  await language.loadNamespaces("posts", "settings");
  return (await import("./ShortcutsDialog.svelte")).default;
}

export async function loadReportDialog() {
  await language.loadNamespaces("moderation");
  return (await import("../rooms/moderation/ReportDialog.svelte")).default;
}

export async function loadCommentsDialog() {
  await language.loadNamespaces("comments");
  return (await import("../rooms/comments/CommentsDialog.svelte")).default;
}

export async function loadViewer() {
  await language.loadNamespaces("posts");
  return (await import("../rooms/posts/viewer/ViewerDialog.svelte")).default;
}
