"""Pushes notifications to browsers, after they were added to a list.

A notification is first claimed for a push, so that a burst of likes is pushed once; each browser then gets a job of its
own, with its own retries. The job checks everything again when it sends: whether the notification still exists, is
unread and visible, and whether its recipient wants a push of it now.
"""

from typing import Any

from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.events import NotificationTold, PushDue
from tintype.notifications.kinds import KINDS
from tintype.notifications.list_reader import ListReader
from tintype.notifications.models import Notification
from tintype.notifications.preferences import NotificationPreferences, is_quiet
from tintype.notifications.push_sender import PushSender
from tintype.notifications.push_subscriptions import PushSubscriptions
from tintype.notifications.store import QUERIES

BURST_S = 300
"""Within these seconds further activities of the same notification (likes of one post) are not pushed."""
log = get_log("notifications")


class PushDelivery:
    """Sends one push per browser and burst."""

    def __init__(
        self,
        deps: NotificationsDependencies,
        *,
        reader: ListReader,
        preferences: NotificationPreferences,
        subscriptions: PushSubscriptions,
        sender: PushSender,
    ) -> None:
        self._shards, self._outbox = deps.shards, deps.outbox
        self._reader, self._preferences = reader, preferences
        self._subscriptions, self._sender = subscriptions, sender

    async def on_told(self, event: NotificationTold) -> None:
        """Queue a push for each of the recipient's browsers, unless one was sent for the same burst."""
        subscriptions = await self._subscriptions.list(event.account_id)
        if not subscriptions:
            return
        async with self._shards.owner(event.account_id).begin() as tx:
            claimed = await tx.fetch_one(
                QUERIES.claim_push,
                notification_id=event.notification_id,
                account_id=event.account_id,
                told_id=event.told_id,
                burst_s=float(BURST_S),
            )
            if claimed is not None:
                due = [
                    PushDue(event.account_id, each.id, event.notification_id, event.told_id)
                    for each in subscriptions
                ]
                await self._outbox.add(tx, *due)

    async def deliver(self, event: PushDue) -> None:
        """Send the notification to one browser as it is now, or nothing if it is no longer wanted."""
        subscription = await self._subscriptions.find(event.account_id, event.subscription_id)
        if subscription is None:
            return
        notification = await self._reader.find(event.account_id, event.notification_id)
        if notification is None or not await self._is_wanted(event.account_id, notification):
            return
        unread = await self._reader.count_unread(event.account_id)
        is_alive = await self._sender.send(
            subscription,
            payload_of(notification, unread_count=unread),
            topic=f"n{notification.id:x}",
            urgency=KINDS[notification.kind].urgency,
        )
        if not is_alive:
            await self._subscriptions.delete(event.account_id, event.subscription_id)
            log.info("subscription.ended", account_id=event.account_id)

    async def _is_wanted(self, account_id: AccountId, notification: Notification) -> bool:
        if notification.is_read:
            return False
        preference = await self._preferences.get(account_id, notification.kind)
        if not preference.is_pushed or preference.audience == "off":
            return False
        return not is_quiet(await self._preferences.find_quiet_hours(account_id))


def payload_of(notification: Notification, *, unread_count: int) -> dict[str, Any]:
    """Who did what, without anybody's words: push services are not ours."""
    return {
        "notification_id": str(notification.id),
        "kind": notification.kind,
        "username": notification.actors[0].username if notification.actors else None,
        "actor_count": notification.actor_count,
        "post_id": str(notification.post.id) if notification.post else None,
        "unread_count": unread_count,
    }
