/** English messages: direct messages. Translations have the same keys and placeholders. */
export const en = {
  "messages.emptyTitle": "Messages are not available yet",
  "messages.emptyBody":
    "Private messages are not possible yet. Replies to your stories and comments on your posts arrive in your activity.",
  "messages.toActivity": "Open activity",
  "messages.findPeople": "Find people",
} as const;
