"""Writes to `following` and `followers`, each together with the count of the account that it changes.

The counts are columns of `accounts`, so they are changed by `Accounts` in the same transaction. Every caller has locked
the account whose rows it writes (`Accounts.lock`), so rows and count cannot drift apart.
"""

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import Accounts
from tintype.base.ids import AccountId
from tintype.graph.store import QUERIES


class FollowRows:
    """Inserts, changes and ends follows on one shard."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def add(
        self,
        tx: Transaction,
        follower: AccountId,
        followee: AccountId,
        *,
        is_requested: bool,
        following_count: int,
        limit: int,
    ) -> int | None:
        """Insert a follow or request on the follower's side; returns the change id, or None when it may not be."""
        change_id = await tx.fetch_value(
            QUERIES.follow,
            account_id=follower,
            followee_id=followee,
            is_requested=is_requested,
            following_count=following_count,
            limit=limit,
        )
        if change_id is not None and not is_requested:
            await self._accounts.change_following_count(tx, follower, 1)
        return change_id

    async def end(
        self,
        tx: Transaction,
        follower: AccountId,
        followee: AccountId,
        *,
        only_requested: bool | None = None,
        only_change: int | None = None,
    ) -> int | None:
        """Delete a follow or request on the follower's side; returns the change id, or None when there was none.

        `only_requested` limits it to requests (True) or follows (False), `only_change` to one particular change.
        """
        row = await tx.fetch_one(
            QUERIES.end_follow,
            account_id=follower,
            followee_id=followee,
            only_requested=only_requested,
            only_change=only_change,
        )
        if row is None:
            return None
        if not row["is_requested"]:
            await self._accounts.change_following_count(tx, follower, -1)
        return row["change_id"]

    async def turn(
        self,
        tx: Transaction,
        follower: AccountId,
        followee: AccountId,
        *,
        is_requested: bool,
        only_change: int | None = None,
    ) -> int | None:
        """Turn a request into a follow, or back, on the follower's side; returns the change id, if anything changed."""
        change_id = await tx.fetch_value(
            QUERIES.turn_follow,
            account_id=follower,
            followee_id=followee,
            is_requested=is_requested,
            only_change=only_change,
        )
        if change_id is not None:
            await self._accounts.change_following_count(tx, follower, -1 if is_requested else 1)
        return change_id

    async def mirror(
        self,
        tx: Transaction,
        followee: AccountId,
        follower: AccountId,
        *,
        change_id: int,
        is_active: bool,
        is_requested: bool,
    ) -> asyncpg.Record | None:
        """Write the followee's side; returns the row as stored, or None when a newer change is there already."""
        row = await tx.fetch_one(
            QUERIES.mirror_follow,
            account_id=followee,
            follower_id=follower,
            change_id=change_id,
            is_active=is_active,
            is_requested=is_requested,
        )
        if row is not None and row["delta"]:
            await self._accounts.change_follower_count(tx, followee, row["delta"])
        return row

    async def drop_follower(self, tx: Transaction, followee: AccountId, follower: AccountId) -> None:
        """End the followee's side of a follow or request."""
        if await tx.fetch_value(QUERIES.drop_follower, account_id=followee, follower_id=follower):
            await self._accounts.change_follower_count(tx, followee, -1)
