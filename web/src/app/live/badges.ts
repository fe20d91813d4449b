/** The unread badges of notifications and messages. */
import { getUnreadMessages } from "../../client/direct";
import { live, pollUnlessOnline } from "../../live";
import { unread } from "../../rooms/notifications";
import { refreshUnread } from "../../rooms/notifications/lazy";
import { throttled } from "./throttled";

/** Several messages at once are one question. */
const PAUSE_MS = 1_000;

export function keepBadges(): () => void {
  const countMessages = throttled(() => void refreshMessages(), PAUSE_MS);
  const refresh = () => {
    void refreshUnread();
    countMessages.call();
  };
  refresh();
  const ends = [
    live.onUpdates(["notification"], ({ payload }) => unread.set(payload.unread_count)),
    live.onUpdates(["direct.message", "direct.thread", "direct.seen"], () => countMessages.call()),
    live.onReset(refresh),
    pollUnlessOnline(() => refreshUnread()),
    countMessages.cancel,
  ];
  return () => {
    for (const end of ends) end();
  };
}

async function refreshMessages(): Promise<void> {
  try {
    const { threads, requests } = await getUnreadMessages();
    unread.messages = threads + requests;
  } catch {
    // The badge stays as it is; the next message asks again.
  }
}
