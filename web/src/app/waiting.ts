/** A wish that waits, in words. */
import { t } from "../base/i18n";
import type { Wish } from "../offline";

export function nameOf(wish: Wish): string {
  if (wish.kind === "comment") return t("offline.comment", { text: wish.text });
  if (wish.kind === "like") return t(wish.on ? "offline.like" : "offline.unlike");
  if (wish.kind === "commentLike") return t(wish.on ? "offline.commentLike" : "offline.commentUnlike");
  if (wish.kind === "save") return t(wish.on ? "offline.save" : "offline.unsave");
  return t(wish.on ? "offline.follow" : "offline.unfollow");
}
