/** English, the queue of what was done offline. The others are measured against it. Keys are "room.what"; `{name}` is filled in. */
export const en = {} as const;
