/** A line in words: who, how many more, and what they did; and where it leads. */
import { t } from "../../base/i18n";
import { paths } from "../../base/router";
import type { Line } from "../../client/activity";
import { session } from "../accounts";

/** "ana", "ana and bo", "ana, bo and 3 others". */
export function whoOf({ actors, others_count }: Line): string {
  const [first, second] = actors.map(({ username }) => `\u2068${username}\u2069`);
  if (first === undefined) return t("activity.somebody");
  const others = others_count + Math.max(0, actors.length - 2);
  if (second === undefined)
    return others > 0 ? t("activity.andOthers", { name: first, count: others }) : first;
  if (others === 0) return t("activity.two", { first, second });
  return t("activity.twoAndOthers", { first, second, count: others });
}

export function sentenceOf(line: Line): string {
  if (line.kind === "warning") return t("activity.warning");
  if (line.kind === "story_reaction")
    return t("activity.story_reaction", { who: whoOf(line), reaction: line.story?.reaction ?? "" });
  return t(`activity.${line.kind}`, { who: whoOf(line) });
}

export function hrefOf(line: Line): string {
  const actor = line.actors[0];
  if (line.kind === "warning") return paths.decisions();
  if (line.kind === "request") return paths.requests();
  if (line.post !== null) return paths.post(line.post.post_id);
  const teller = line.kind === "story_mention" ? actor?.account_id : session.account?.account_id;
  if (line.story?.is_live && teller !== undefined) return paths.stories(teller);
  return actor === undefined ? paths.activity() : paths.profile(actor.username);
}
