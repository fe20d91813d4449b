/** What happened to the viewer. */
import { send } from "./http";
import type { Schemas } from "./types";

/** Beside a line about a story; null for other kinds. */
export interface StoryOf {
  readonly story_id: string;
  readonly is_live: boolean;
  readonly thumbnail_url: string | null;
  readonly text: string | null;
  readonly reaction: string | null;
}
export type Line = Omit<Schemas["NotificationView"], "kind"> & {
  readonly kind: Schemas["NotificationView"]["kind"] | "story_reaction" | "story_reply" | "story_mention";
  readonly story?: StoryOf | null;
};
export interface Lines {
  readonly notifications: Line[];
  readonly unread_count: number;
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

export const activity = {
  getLines: (cursor: string | null, limit: number) =>
    send<Lines>("GET", "/notifications", { query: { cursor, limit } }),
  markRead: (upTo: string) => send<null>("POST", "/notifications/read", { json: { up_to: upTo } }),
  remove: (lineId: string) => send<null>("DELETE", `/notifications/${encodeURIComponent(lineId)}`),
} as const;

/** Apart from the rest, because the badge is there before anybody opens the list. */
export const getUnread = async () =>
  (await send<Schemas["UnreadView"]>("GET", "/notifications/unread")).unread_count;
