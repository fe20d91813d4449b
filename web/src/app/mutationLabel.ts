/** The description of a queued mutation. */
import { t } from "../base/i18n";
import type { Mutation } from "../offline";

export function mutationLabel(mutation: Mutation): string {
  if (mutation.kind === "comment") return t("offline.comment", { text: mutation.text });
  if (mutation.kind === "like") return t(mutation.on ? "offline.like" : "offline.unlike");
  if (mutation.kind === "commentLike")
    return t(mutation.on ? "offline.commentLike" : "offline.commentUnlike");
  if (mutation.kind === "save") return t(mutation.on ? "offline.save" : "offline.unsave");
  return t(mutation.on ? "offline.follow" : "offline.unfollow");
}
