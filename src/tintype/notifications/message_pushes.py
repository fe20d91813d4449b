"""Pushes of direct messages: one for the newest message of a thread, to members who have not seen or muted it.

Messages are in no list of notifications: the inbox has them. What a push shows is the recipient's choice: the text, the
sender's name, or neither. It is read when the push is sent, so what was unsent or seen meanwhile is not pushed.
"""

from collections.abc import Sequence
from typing import Any

from shardwright.routing import Shard
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.shard_groups import run_by_shard
from tintype.direct import Direct, MessagePush, MessageSent
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.events import MessagePushDue
from tintype.notifications.preferences import NotificationPreferences, is_quiet
from tintype.notifications.push_sender import PushSender
from tintype.notifications.push_subscriptions import PushSubscriptions
from tintype.notifications.store import QUERIES

LONGEST_PREVIEW = 200
log = get_log("notifications")


class MessagePushes:
    """Sends one push per browser and thread."""

    def __init__(
        self,
        deps: NotificationsDependencies,
        direct: Direct,
        *,
        preferences: NotificationPreferences,
        subscriptions: PushSubscriptions,
        sender: PushSender,
    ) -> None:
        self._shards, self._outbox, self._direct = deps.shards, deps.outbox, direct
        self._preferences, self._subscriptions, self._sender = preferences, subscriptions, sender

    async def on_sent(self, events: Sequence[MessageSent]) -> None:
        """Queue a push for each browser of each recipient; messages that were queued before are not again."""
        recipients = await self._direct.list_recipients(events)
        await run_by_shard(self._shards, recipients, lambda each: each.account_id, self._queue)

    async def deliver(self, event: MessagePushDue) -> None:
        """Send the message to one browser as it is now, or nothing if it was seen, muted or unsent meanwhile."""
        subscription = await self._subscriptions.find(event.account_id, event.subscription_id)
        push = MessagePush(event.account_id, event.thread_id, event.message_id, event.number)
        found = await self._direct.find_pushed(push) if subscription is not None else None
        if subscription is None or found is None:
            return
        if is_quiet(await self._preferences.find_quiet_hours(event.account_id)):
            return
        message, preview = found
        payload: dict[str, Any] = {
            "notification_id": str(message.id),
            "kind": "message",
            "username": message.author.account.username if message.author and preview != "nothing" else None,
            "text": message.text[:LONGEST_PREVIEW] if preview == "text" else None,
            "thread_id": str(event.thread_id),
            "actor_count": 1,
            "post_id": None,
            "unread_count": (await self._direct.count_unread(event.account_id)).threads,
        }
        is_alive = await self._sender.send(
            subscription, payload, topic=f"d{event.thread_id:x}", urgency="high"
        )
        if not is_alive:
            await self._subscriptions.delete(event.account_id, event.subscription_id)
            log.info("subscription.ended", account_id=event.account_id)

    async def _queue(self, shard: Shard, recipients: list[MessagePush]) -> None:
        rows = await shard.fetch(
            QUERIES.list_subscribed, account_ids=list({each.account_id for each in recipients})
        )
        browsers: dict[AccountId, list[int]] = {}
        for row in rows:
            browsers.setdefault(AccountId(row["account_id"]), []).append(row["id"])
        wanted = [each for each in recipients if each.account_id in browsers]
        if not wanted:
            return
        async with shard.begin() as tx:
            claimed = await self._direct.claim_pushes(tx, wanted)
            due = [
                MessagePushDue(each.account_id, browser, each.thread_id, each.message_id, each.number)
                for each in claimed
                for browser in browsers[each.account_id]
            ]
            if due:
                await self._outbox.add(tx, *due)
