"""Browsers are told: who subscribes, and what is sent to whom after a line was added to a list.

A line is first claimed for a push, so that a burst of likes rings once; each browser then gets a job of its own, with
its own retries. At the moment of sending everything is looked at again: whether the line is still there, unread and
visible, and whether its recipient still wants to hear of it now.
"""

from collections.abc import Sequence
from typing import Any

from shardwright.running import Queries, Shards
from tintype.accounts import SessionsEnded
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.notifications.addresses import check_endpoint
from tintype.notifications.choices import Choices, is_quiet
from tintype.notifications.errors import SubscriptionNotFound, TooManySubscriptions
from tintype.notifications.events import NotificationTold, PushDue
from tintype.notifications.kinds import KINDS
from tintype.notifications.models import Notification, Subscription
from tintype.notifications.reading import Reading
from tintype.notifications.sending import PushSender, check_keys

BURST_S = 300
"""Within these seconds more of the same (likes of one post) is not told to devices again."""
MOST_SUBSCRIPTIONS = 20
LONGEST_DEVICE = 200
log = get_log("notifications")


class Pushing:
    """Subscriptions and deliveries."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        *,
        queries: Queries,
        reading: Reading,
        choices: Choices,
        sender: PushSender,
    ) -> None:
        self._shards, self._outbox, self._queries = shards, outbox, queries
        self._reading, self._choices, self.sender = reading, choices, sender

    async def subscribe(
        self,
        account_id: AccountId,
        *,
        session_id: str,
        endpoint: str,
        public_key: bytes,
        auth_secret: bytes,
        device: str = "",
    ) -> Subscription:
        """Tell this browser from now on; asking again renews its keys."""
        check_endpoint(endpoint, may_be_internal=self.sender.may_be_internal)
        check_keys(public_key, auth_secret)
        shard = self._shards.owner(account_id)
        async with shard.begin() as tx:
            await tx.fetch_one(self._queries.lock_state, account_id=account_id)
            made = await tx.fetch_value(
                self._queries.subscribe,
                account_id=account_id,
                session_id=session_id,
                endpoint=endpoint,
                public_key=public_key,
                auth_secret=auth_secret,
                device=device[:LONGEST_DEVICE],
            )
            if (
                len(await tx.fetch(self._queries.list_subscriptions, account_id=account_id))
                > MOST_SUBSCRIPTIONS
            ):
                raise TooManySubscriptions
        return Subscription(made, session_id, endpoint, public_key, auth_secret, device[:LONGEST_DEVICE])

    async def list(self, account_id: AccountId) -> Sequence[Subscription]:
        """The browsers that are told."""
        rows = await self._shards.owner(account_id).fetch(
            self._queries.list_subscriptions, account_id=account_id
        )
        return [Subscription(**row) for row in rows]

    async def unsubscribe(self, account_id: AccountId, subscription_id: int) -> None:
        """Tell this browser nothing any more."""
        if not await self._drop(account_id, subscription_id):
            raise SubscriptionNotFound

    async def on_sessions_ended(self, event: SessionsEnded) -> None:
        """A browser whose session was ended hears nothing any more."""
        await self._shards.owner(event.account_id).execute(
            self._queries.unsubscribe_sessions,
            account_id=event.account_id,
            session_ids=list(event.session_ids),
        )

    async def on_told(self, event: NotificationTold) -> None:
        """Every browser of the recipient gets its job, unless it has just rung for the same."""
        devices = await self.list(event.account_id)
        if not devices:
            return
        async with self._shards.owner(event.account_id).begin() as tx:
            claimed = await tx.fetch_one(
                self._queries.claim_push,
                notification_id=event.notification_id,
                account_id=event.account_id,
                told_id=event.told_id,
                burst_s=float(BURST_S),
            )
            if claimed is not None:
                due = [
                    PushDue(event.account_id, device.id, event.notification_id, event.told_id)
                    for device in devices
                ]
                await self._outbox.add(tx, *due)

    async def deliver(self, event: PushDue) -> None:
        """Send to one browser what is true and wanted at this moment, or nothing."""
        row = await self._shards.owner(event.account_id).fetch_one(
            self._queries.find_subscription,
            subscription_id=event.subscription_id,
            account_id=event.account_id,
        )
        line = await self._reading.find(event.account_id, event.notification_id) if row else None
        if row is None or line is None or not await self._is_wanted(event.account_id, line):
            return
        unread = await self._reading.count_unread(event.account_id)
        is_alive = await self.sender.send(
            Subscription(**row),
            payload_of(line, unread_count=unread),
            topic=f"n{line.id:x}",
            urgency=KINDS[line.kind].urgency,
        )
        if not is_alive:
            await self._drop(event.account_id, event.subscription_id)
            log.info("subscription.ended", account_id=event.account_id)

    async def _is_wanted(self, account_id: AccountId, line: Notification) -> bool:
        if line.is_read:
            return False
        choice = await self._choices.get(account_id, line.kind)
        if not choice.is_pushed or choice.audience == "off":
            return False
        return not is_quiet(await self._choices.find_quiet_hours(account_id))

    async def _drop(self, account_id: AccountId, subscription_id: int) -> bool:
        dropped = await self._shards.owner(account_id).fetch_value(
            self._queries.unsubscribe, subscription_id=subscription_id, account_id=account_id
        )
        return dropped is not None


def payload_of(line: Notification, *, unread_count: int) -> dict[str, Any]:
    """Who and what, and no word of anybody's: a push travels over machines that are not ours."""
    return {
        "notification_id": str(line.id),
        "kind": line.kind,
        "username": line.actors[0].username if line.actors else None,
        "actor_count": line.actor_count,
        "post_id": str(line.post.id) if line.post else None,
        "unread_count": unread_count,
    }
