/** What happened to the viewer. */
import { send } from "./http";
import type { Schemas } from "./types";

export type Line = Schemas["NotificationView"];
export type Lines = Schemas["NotificationsView"];

export const activity = {
  getLines: (cursor: string | null, limit: number) =>
    send<Lines>("GET", "/notifications", { query: { cursor, limit } }),
  markRead: (upTo: string) => send<null>("POST", "/notifications/read", { json: { up_to: upTo } }),
  remove: (lineId: string) => send<null>("DELETE", `/notifications/${encodeURIComponent(lineId)}`),
} as const;

/** Apart from the rest, because the badge is there before anybody opens the list. */
export const getUnread = async () =>
  (await send<Schemas["UnreadView"]>("GET", "/notifications/unread")).unread_count;
