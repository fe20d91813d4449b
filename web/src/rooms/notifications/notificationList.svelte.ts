/** The paginated list of notifications, grouped by recency; loading it marks them as read. */
import { nextCursor, PagedList } from "../../base/pagedList.svelte";
import { type NotificationItem, notifications } from "../../client/notifications";
import { attempt } from "../../ui/attempt";
import { refreshUnread } from "./lazy";
import { unread } from "./unread.svelte";

const PAGE_SIZE = 30;

export interface Section {
  readonly recency: NotificationItem["recency"];
  readonly items: readonly NotificationItem[];
}

export class NotificationList {
  readonly pages = new PagedList<NotificationItem>(
    async (cursor) => {
      const page = await notifications.list(cursor, PAGE_SIZE);
      if (cursor === null) void this.#markRead(page.notifications[0], page.unread_count);
      return { items: page.notifications, next: nextCursor(page) };
    },
    ({ notification_id }) => notification_id,
  );
  /** What is shown has been marked as read: unread notifications from now on are newer. */
  isRead = $state.raw(false);
  readonly sections = $derived.by(() => sectionsOf(this.pages.items ?? []));

  async remove(item: NotificationItem): Promise<void> {
    const before = this.pages.items;
    this.pages.remove(item.notification_id);
    const rollBack = () => {
      this.pages.items = before;
    };
    await attempt(() => notifications.remove(item.notification_id), { rollBack });
  }

  /** Marks as read up to the newest one shown; what arrives meanwhile stays unread. */
  async #markRead(newest: NotificationItem | undefined, count: number): Promise<void> {
    const { version } = unread;
    let remaining = 0;
    try {
      if (newest !== undefined && count > 0) await notifications.markRead(newest.notification_id);
      this.isRead = true;
    } catch {
      remaining = count; // The badge stays; the next visit tries again.
    }
    // A count that was pushed in the meantime is newer than this one, or older: the server knows.
    if (version === unread.version) unread.set(remaining);
    else await refreshUnread();
  }
}

/** Groups consecutive notifications of the same recency, in the order of the list. */
export function sectionsOf(items: readonly NotificationItem[]): Section[] {
  const sections: { recency: NotificationItem["recency"]; items: NotificationItem[] }[] = [];
  for (const item of items) {
    const last = sections.at(-1);
    if (last?.recency === item.recency) last.items.push(item);
    else sections.push({ recency: item.recency, items: [item] });
  }
  return sections;
}
