/** The list of what happened, by how long ago; opening it marks what it shows as read. */
import { Pages } from "../../base/pages.svelte";
import { activity, type Line } from "../../client/activity";
import { explain, toasts } from "../../ui";
import { unread } from "./unread.svelte";

const PAGE = 30;

export interface Section {
  readonly recency: Line["recency"];
  readonly lines: readonly Line[];
}

export class Lines {
  readonly pages = new Pages<Line>(
    async (cursor) => {
      const page = await activity.getLines(cursor, PAGE);
      if (cursor === null) void this.#read(page.notifications[0], page.unread_count);
      return { items: page.notifications, next: page.has_more ? page.next_cursor : null };
    },
    ({ notification_id }) => notification_id,
  );
  /** What is shown has been marked as read: whatever is unread from now on is newer. */
  isRead = $state.raw(false);
  readonly sections = $derived.by(() => sectionsOf(this.pages.items ?? []));

  async remove(line: Line): Promise<void> {
    const before = this.pages.items;
    this.pages.remove(line.notification_id);
    try {
      await activity.remove(line.notification_id);
    } catch (error) {
      this.pages.items = before;
      toasts.fail(explain(error));
    }
  }

  /** Only up to the newest line that is shown: what arrives meanwhile stays unread. */
  async #read(newest: Line | undefined, count: number): Promise<void> {
    try {
      if (newest !== undefined && count > 0) await activity.markRead(newest.notification_id);
      unread.adopt(0);
      this.isRead = true;
    } catch {
      unread.adopt(count); // The badge stays, and the next visit tries again.
    }
  }
}

/** Newest first; the order of the sections is that of the list. */
export function sectionsOf(lines: readonly Line[]): Section[] {
  const sections: { recency: Line["recency"]; lines: Line[] }[] = [];
  for (const line of lines) {
    const last = sections.at(-1);
    if (last?.recency === line.recency) last.lines.push(line);
    else sections.push({ recency: line.recency, lines: [line] });
  }
  return sections;
}
