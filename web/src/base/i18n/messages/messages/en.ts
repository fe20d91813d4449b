/** English, conversations. The others are measured against it. Keys are "room.what"; `{name}` is filled in. */
export const en = {
  "messages.emptyTitle": "Conversations will live here",
  "messages.emptyBody":
    "Writing to each other in private is not possible yet. Answers to your stories and comments on your posts arrive in your activity.",
  "messages.toActivity": "Open activity",
  "messages.findPeople": "Find people",
} as const;
