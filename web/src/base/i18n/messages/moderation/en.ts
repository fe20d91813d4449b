/** English, reports and the moderation queue. The others are measured against it. Keys are "room.what"; `{name}` is filled in. */
export const en = {} as const;
