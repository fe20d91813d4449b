/** The text of a notification and the page it links to. */
import { t } from "../../base/i18n";
import { paths } from "../../base/router";
import type { NotificationItem } from "../../client/notifications";
import { session } from "../accounts";

/** "ana", "ana and bo", "ana, bo and 3 others". */
export function actorNames({ actors, others_count }: NotificationItem): string {
  const [first, second] = actors.map(({ username }) => `\u2068${username}\u2069`);
  if (first === undefined) return t("activity.somebody");
  const others = others_count + Math.max(0, actors.length - 2);
  if (second === undefined)
    return others > 0 ? t("activity.andOthers", { name: first, count: others }) : first;
  if (others === 0) return t("activity.two", { first, second });
  return t("activity.twoAndOthers", { first, second, count: others });
}

export function notificationText(item: NotificationItem): string {
  if (item.kind === "warning") return t("activity.warning");
  const who = actorNames(item);
  // Verbs agree with their number in some languages.
  const count = Math.max(1, item.actors.length + item.others_count);
  if (item.kind === "story_countdown") return t("activity.story_countdown", { who });
  if (item.kind === "story_reaction")
    return t("activity.story_reaction", { who, count, reaction: item.story?.reaction ?? "" });
  return t(`activity.${item.kind}`, { who, count });
}

export function notificationHref(item: NotificationItem): string {
  const actor = item.actors[0];
  if (item.kind === "warning") return paths.decisions();
  if (item.kind === "request") return paths.requests();
  if (item.post !== null) return paths.post(item.post.post_id);
  const storyAuthor =
    item.kind === "story_mention" || item.kind === "story_countdown"
      ? actor?.account_id
      : session.account?.account_id;
  if (item.story?.is_live && storyAuthor !== undefined) return paths.stories(storyAuthor);
  return actor === undefined ? paths.activity() : paths.profile(actor.username);
}
