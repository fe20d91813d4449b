/** The viewer's notifications. */
import { send } from "./http";
import type { Schemas } from "./types";

export type NotificationItem = Schemas["NotificationView"];

export const notifications = {
  list: (cursor: string | null, limit: number) =>
    send<Schemas["NotificationsView"]>("GET", "/notifications", { query: { cursor, limit } }),
  markRead: (upTo: string) => send<null>("POST", "/notifications/read", { json: { up_to: upTo } }),
  remove: (notificationId: string) =>
    send<null>("DELETE", `/notifications/${encodeURIComponent(notificationId)}`),
} as const;

export const getUnreadCount = async () =>
  (await send<Schemas["UnreadView"]>("GET", "/notifications/unread")).unread_count;
