/** English, comments and the page of a post. The others are measured against it. Keys are "room.what"; `{name}` is filled in. */
export const en = {} as const;
