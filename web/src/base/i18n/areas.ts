/** The catalogue, cut by what a page needs: an area's words arrive together with the pages that speak them. */

import type { LocaleCode } from "./locales";
import type { en as accountsEn } from "./messages/accounts/en";
import type { en as activityEn } from "./messages/activity/en";
import type { en as commentsEn } from "./messages/comments/en";
import { en as coreEn } from "./messages/core/en";
import type { en as createEn } from "./messages/create/en";
import type { en as findingEn } from "./messages/finding/en";
import type { en as messagesEn } from "./messages/messages/en";
import type { en as moderationEn } from "./messages/moderation/en";
import type { en as offlineEn } from "./messages/offline/en";
import type { en as peopleEn } from "./messages/people/en";
import type { en as postsEn } from "./messages/posts/en";
import type { en as settingsEn } from "./messages/settings/en";
import type { en as storiesEn } from "./messages/stories/en";
import type { Args, Message } from "./types";

type English = typeof coreEn &
  typeof accountsEn &
  typeof activityEn &
  typeof commentsEn &
  typeof createEn &
  typeof findingEn &
  typeof messagesEn &
  typeof moderationEn &
  typeof offlineEn &
  typeof peopleEn &
  typeof postsEn &
  typeof settingsEn &
  typeof storiesEn;
export type MessageKey = keyof English;
export type ArgsOf<K extends MessageKey> = Args<English[K]>;
type Words = Readonly<Record<string, Message>>;

/** English core ships with the app; everything else is a chunk per area and language. */
export const core: Words = coreEn;

const files = import.meta.glob<Words>(["./messages/*/*.ts", "!./messages/core/en.ts"]);

export const areas = [
  "accounts",
  "activity",
  "comments",
  "create",
  "finding",
  "messages",
  "moderation",
  "offline",
  "people",
  "posts",
  "settings",
  "stories",
] as const;
export type Area = (typeof areas)[number];

/** The words of one area in one language. */
export async function loadWords(area: Area | "core", code: LocaleCode): Promise<Words> {
  if (area === "core" && code === "en") return core;
  const file = files[`./messages/${area}/${code}.ts`];
  if (file === undefined) throw new Error(`There are no words for ${area} in ${code}.`);
  return Object.assign({}, ...Object.values(await file())) as Words;
}
