/** The labels of the kinds of notifications. */
import type { MessageKey } from "../../base/i18n";
import type { KindSetting } from "../../client/notificationSettings";

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
  story_answer: "settings.kindStoryAnswer",
  story_countdown: "settings.kindStoryCountdown",
  warning: "settings.kindWarning",
} as const satisfies Record<KindSetting["kind"], MessageKey>;
