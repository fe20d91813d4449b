/** Texts of imports: how one is, and why something was left out. */
import { formatMoment, language, type MessageKey, t } from "../../base/i18n";
import type { Import, ImportLine, ImportSource } from "../../client/imports";

export const SOURCES: readonly ImportSource[] = ["instagram", "mastodon", "pixelfed", "folder"];

export function sourceName(source: ImportSource): string {
  return t(`imports.${source}`);
}

/** How an import ended, in a sentence. */
export function outcome(ended: Import): string {
  const { state, reason_code, reason, imported, already_imported, skipped } = ended;
  const counts = [
    t("imports.imported", { count: imported }),
    ...(already_imported > 0 ? [t("imports.already", { count: already_imported })] : []),
    ...(skipped > 0 ? [t("imports.skipped", { count: skipped })] : []),
  ].join(" ");
  if (state === "done") return counts;
  if (state === "cancelled" && reason_code === "") return `${t("imports.cancelled")} ${counts}`;
  if (state !== "stopped") return explain(reason_code, reason);
  return [explain(reason_code, reason), howToGoOn(ended), counts].join(" ");
}

/** What to do about an import that stopped. */
function howToGoOn({ kept_until }: Import): string {
  return kept_until ? t("imports.keptUntil", { date: formatMoment(kept_until) }) : t("imports.again");
}

export const reasonOf = ({ code, reason }: ImportLine): string => explain(code, reason);

/** The message of a code; of an unknown one the server's text in English, and a general one in other languages. */
function explain(code: string, text: string): string {
  const kind =
    code.startsWith("media_") || code.startsWith("video_") ? mediaKey(code) : `imports.reason.${code}`;
  // The server's text says what is wrong with an archive, in English.
  if (code === "archive_invalid" && language.code === "en") return text;
  if (kind in language.catalogue) return t(kind as "imports.reason.other");
  return language.code === "en" && text !== "" ? text : t("imports.reason.other");
}

/** Files that are refused have many codes; a person needs to know whether it is too large, of another kind, or broken. */
function mediaKey(code: string): MessageKey {
  if (/too_large|too_long|too_costly|dimensions|bomb/.test(code)) return "imports.reason.too_large";
  if (/unsupported|animated|protected|disguised/.test(code)) return "imports.reason.unsupported";
  return "imports.reason.damaged";
}
