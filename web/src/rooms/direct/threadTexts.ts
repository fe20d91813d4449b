/** What a thread is called, and the beginning of its last message. */
import { t } from "../../base/i18n";
import type { Author } from "../../client";
import type { InboxEntry, Message, Thread } from "../../client/direct";

/** Isolated from the direction of the text around it. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

const MOST_NAMES = 3;

/** The others of a thread, without the viewer. */
export function othersOf(thread: Thread, viewerId: string | null): Author[] {
  return thread.members.map(({ person }) => person).filter(({ account_id }) => account_id !== viewerId);
}

/** A group's name, or the names of those in it. */
export function threadTitle(kind: Thread["kind"], name: string, others: readonly Author[]): string {
  if (name !== "") return name;
  const [first] = others;
  if (first === undefined) return t(kind === "group" ? "direct.onlyYou" : "direct.somebody");
  if (kind === "pair") return first.full_name || first.username;
  const names = others.slice(0, MOST_NAMES).map(({ username }) => isolated(username));
  const more = others.length - names.length;
  const list = names.join(", ");
  return more > 0 ? t("direct.namesAndMore", { names: list, count: more }) : list;
}

/** The last message in one line, and who wrote it where that is not plain. */
export function previewOf(entry: InboxEntry): string {
  const message = entry.last_message;
  if (message === null) return t("direct.noMessages");
  const text = messageSummary(message);
  if (message.is_own) return t("direct.previewOwn", { text });
  const isPlain = entry.kind === "pair" || message.author === null;
  return isPlain ? text : t("direct.previewOf", { name: isolated(message.author?.username ?? ""), text });
}

/** A message in one line: its text, or what it is. */
export function messageSummary(message: Pick<Message, "kind" | "text" | "media" | "is_hidden">): string {
  if (message.is_hidden) return t("direct.hidden");
  if (message.kind === "unsent") return t("direct.unsent");
  if (message.text !== "") return message.text;
  if (message.kind === "encrypted") return t("direct.encryptedMessage");
  if (message.kind === "voice") return t("direct.voice");
  if (message.kind === "media") return t(message.media?.type === "video" ? "direct.video" : "direct.photo");
  if (message.kind === "post") return t("direct.aPost");
  if (message.kind === "story") return t("direct.aStory");
  return message.kind === "story_reply" ? t("direct.storyReply") : "";
}
