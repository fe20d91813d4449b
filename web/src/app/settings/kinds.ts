/** What each kind of news is called. */
import type { MessageKey } from "../../base/i18n";
import type { Choice } from "../../client/notifying";

export const kindNames = {
  like: "settings.kindLike",
  comment_like: "settings.kindCommentLike",
  comment: "settings.kindComment",
  reply: "settings.kindReply",
  mention: "settings.kindMention",
  tag: "settings.kindTag",
  follow: "settings.kindFollow",
  request: "settings.kindRequest",
  accepted: "settings.kindAccepted",
  story_reply: "settings.kindStoryReply",
  story_reaction: "settings.kindStoryReaction",
  story_mention: "settings.kindStoryMention",
  warning: "settings.kindWarning",
} as const satisfies Record<Choice["kind"], MessageKey>;
