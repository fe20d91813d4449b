"""Push subscriptions: the browsers that a person's notifications are pushed to."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tintype.accounts import SessionsEnded
from tintype.base.ids import AccountId
from tintype.notifications.dependencies import NotificationsDependencies
from tintype.notifications.errors import SubscriptionNotFound, TooManySubscriptions
from tintype.notifications.models import PushEndpoint, Subscription
from tintype.notifications.push_endpoints import check_endpoint
from tintype.notifications.push_sender import PushSender, check_keys
from tintype.notifications.store import QUERIES

MAX_SUBSCRIPTIONS = 20
LONGEST_DEVICE = 200


class PushSubscriptions:
    """The subscribed browsers of accounts; a subscription ends with the session that made it."""

    def __init__(self, deps: NotificationsDependencies, sender: PushSender) -> None:
        self._shards, self._sender = deps.shards, sender

    async def subscribe(self, account_id: AccountId, browser: PushEndpoint) -> Subscription:
        """Push to this browser from now on; subscribing again renews its keys."""
        check_endpoint(browser.endpoint, may_be_internal=self._sender.may_be_internal)
        check_keys(browser.public_key, browser.auth_secret)
        browser = msgspec.structs.replace(browser, device=browser.device[:LONGEST_DEVICE])
        values: dict[str, Any] = msgspec.structs.asdict(browser)
        async with self._shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_state, account_id=account_id)
            subscription_id = await tx.fetch_value(QUERIES.subscribe, account_id=account_id, **values)
            if len(await tx.fetch(QUERIES.list_subscriptions, account_id=account_id)) > MAX_SUBSCRIPTIONS:
                raise TooManySubscriptions
        return Subscription(subscription_id, **values)

    async def list(self, account_id: AccountId) -> Sequence[Subscription]:
        """The account's subscribed browsers."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_subscriptions, account_id=account_id)
        return [Subscription(**row) for row in rows]

    async def find(self, account_id: AccountId, subscription_id: int) -> Subscription | None:
        """One subscription of the account, if it still exists."""
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.find_subscription, subscription_id=subscription_id, account_id=account_id
        )
        return Subscription(**row) if row else None

    async def unsubscribe(self, account_id: AccountId, subscription_id: int) -> None:
        """Push nothing to this browser any more."""
        if not await self.delete(account_id, subscription_id):
            raise SubscriptionNotFound

    async def delete(self, account_id: AccountId, subscription_id: int) -> bool:
        """Delete a subscription; False when there was none."""
        deleted = await self._shards.owner(account_id).fetch_value(
            QUERIES.unsubscribe, subscription_id=subscription_id, account_id=account_id
        )
        return deleted is not None

    async def on_sessions_ended(self, event: SessionsEnded) -> None:
        """Delete the subscriptions that were made in sessions which have ended."""
        await self._shards.owner(event.account_id).execute(
            QUERIES.unsubscribe_sessions,
            account_id=event.account_id,
            session_ids=list(event.session_ids),
        )
