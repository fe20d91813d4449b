/** The message catalogue, split into namespaces that load together with the pages that use them. */

import type { LocaleCode } from "./locales";
import type { en as accountsEn } from "./messages/accounts/en";
import type { en as activityEn } from "./messages/activity/en";
import type { en as commentsEn } from "./messages/comments/en";
import { en as coreEn } from "./messages/core/en";
import type { en as createEn } from "./messages/create/en";
import type { en as directEn } from "./messages/direct/en";
import type { en as importsEn } from "./messages/imports/en";
import type { en as moderationEn } from "./messages/moderation/en";
import type { en as offlineEn } from "./messages/offline/en";
import type { en as peopleEn } from "./messages/people/en";
import type { en as postsEn } from "./messages/posts/en";
import type { en as searchEn } from "./messages/search/en";
import type { en as settingsEn } from "./messages/settings/en";
import type { en as storiesEn } from "./messages/stories/en";
import type { Args, Message } from "./types";

type English = typeof coreEn &
  typeof accountsEn &
  typeof activityEn &
  typeof commentsEn &
  typeof createEn &
  typeof directEn &
  typeof importsEn &
  typeof moderationEn &
  typeof offlineEn &
  typeof peopleEn &
  typeof postsEn &
  typeof searchEn &
  typeof settingsEn &
  typeof storiesEn;
export type MessageKey = keyof English;
export type ArgsOf<K extends MessageKey> = Args<English[K]>;
export type Messages = Readonly<Record<string, Message>>;

/** English `core` is part of the app's bundle; everything else is one chunk per namespace and language. */
export const core: Messages = coreEn;

const files = import.meta.glob<Messages>(["./messages/*/*.ts", "!./messages/core/en.ts"]);

export const namespaces = [
  "accounts",
  "activity",
  "comments",
  "create",
  "direct",
  "imports",
  "moderation",
  "offline",
  "people",
  "posts",
  "search",
  "settings",
  "stories",
] as const;
export type Namespace = (typeof namespaces)[number];

/** Loads the messages of one namespace in one language. */
export async function loadMessages(namespace: Namespace | "core", code: LocaleCode): Promise<Messages> {
  if (namespace === "core" && code === "en") return core;
  const file = files[`./messages/${namespace}/${code}.ts`];
  if (file === undefined) throw new Error(`There are no messages for ${namespace} in ${code}.`);
  return Object.assign({}, ...Object.values(await file())) as Messages;
}
