/** What the notifications room needs only after the first paint. */
import { getUnreadCount } from "../../client/notifications";
import { unread } from "./unread.svelte";

/** Asks for the number of unread notifications; resolves to whether the server answered. */
export async function refreshUnread(): Promise<boolean> {
  unread.version += 1; // Of two questions the later one counts.
  const { version } = unread;
  try {
    const count = await getUnreadCount();
    if (version === unread.version) unread.count = count;
    return true;
  } catch {
    return false;
  }
}
