"""What people do about following: the verbs, each one transaction on the follower's shard."""

from collections.abc import Mapping
from typing import Any

from shardwright.running import Query, Transaction
from tintype.accounts import AccountNotFound, PrivacyChanged
from tintype.base.events import Event
from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.base.limits import Rule
from tintype.base.log import get_log
from tintype.graph.errors import CannotFollowYourself, RequestNotFound, TooManyFollowees
from tintype.graph.events import FollowApproved, State
from tintype.graph.mirroring import Change, Mirror, change_to
from tintype.graph.store import QUERIES, AtDesk, Desk

MOST_FOLLOWEES = 7_500
"""Requests that wait count as well."""
CHURN = Rule("follow", 400, 3600)
"""Programs that follow and unfollow to be noticed do it by the thousand."""
BATCH = 200
log = get_log("graph")


class Follows(AtDesk):
    """Follows and requests. Each change commits on the follower's shard and is mirrored before the answer."""

    def __init__(self, desk: Desk, mirror: Mirror) -> None:
        super().__init__(desk)
        self._mirror = mirror

    async def follow(self, follower: AccountId, followee: AccountId) -> State:
        """Follow once, however often it is asked for; a private account is asked first."""
        if follower == followee:
            raise CannotFollowYourself
        await self._limiter.take(CHURN, follower)
        account = await self._accounts.get(followee)
        if not account.is_active:
            raise AccountNotFound
        state, change = await self._begin(follower, followee, is_requested=account.is_private)
        if change is None:
            return state
        decided = await self._mirror.settle(change) or state
        log.info("follow.changed", follower_id=follower, followee_id=followee, state=decided)
        if decided == "none":
            raise AccountNotFound
        return decided

    async def unfollow(self, follower: AccountId, followee: AccountId) -> bool:
        """Cease to follow or take a request back, effective at once; returns whether there was anything."""
        return await self._end(follower, followee, only_requested=None)

    async def remove_follower(self, followee: AccountId, follower: AccountId) -> bool:
        """End somebody else's follow of oneself, whether or not it has been approved."""
        return await self._end(follower, followee, only_requested=None)

    async def decline(self, followee: AccountId, follower: AccountId) -> bool:
        """Say no to a request; whoever follows already goes on."""
        return await self._end(follower, followee, only_requested=True)

    async def approve(self, followee: AccountId, follower: AccountId) -> None:
        """Say yes to a request, once; it may have been taken back."""
        if await self._approve(followee, follower):
            return
        row = None
        if has_shard(self._shards, follower):
            row = await self._shards.owner(follower).fetch_one(
                QUERIES.find_follow, account_id=follower, followee_id=followee
            )
        if row is None or row["is_requested"]:
            raise RequestNotFound

    async def approve_all(self, change: PrivacyChanged) -> None:
        """Who becomes public says yes to everybody who waits. What arrives later finds the account public."""
        place = LARGEST_ID
        shard = self._shards.owner(change.account_id)
        while await shard.fetch_value(QUERIES.find_privacy, account_id=change.account_id) is False:
            rows = await shard.fetch(
                QUERIES.newest_requests, account_id=change.account_id, before=place, limit=BATCH
            )
            for row in rows:
                await self._approve(change.account_id, AccountId(row["id"]))
            if len(rows) < BATCH:
                return
            place = rows[-1]["place"]

    async def end_in(self, tx: Transaction, follower: AccountId, followee: AccountId) -> Change | None:
        """End what there is within a transaction on the follower's shard; the caller announces and settles it."""
        change_id = await tx.fetch_value(
            QUERIES.end_follow,
            account_id=follower,
            followee_id=followee,
            only_requested=None,
            only_change=None,
        )
        self._ties.change_with(tx, follower)
        return change_to("none", follower, followee, change_id, is_approved=False) if change_id else None

    async def _begin(
        self, follower: AccountId, followee: AccountId, *, is_requested: bool
    ) -> tuple[State, Change | None]:
        state: State = "requested" if is_requested else "active"
        async with self._shards.owner(follower).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=follower)
            change_id = await tx.fetch_value(
                QUERIES.follow,
                account_id=follower,
                followee_id=followee,
                is_requested=is_requested,
                most=MOST_FOLLOWEES,
            )
            if change_id is None:
                return await _explain(tx, follower, followee), None
            change = change_to(state, follower, followee, change_id, is_approved=False)
            await self._outbox.add(tx, change)
            self._ties.change_with(tx, follower)
        return state, change

    async def _approve(self, followee: AccountId, follower: AccountId) -> bool:
        what = {"is_requested": False, "only_change": None}
        return await self._change(
            QUERIES.turn_follow, "active", follower, followee, what, FollowApproved(follower, followee)
        )

    async def _end(self, follower: AccountId, followee: AccountId, *, only_requested: bool | None) -> bool:
        what = {"only_requested": only_requested, "only_change": None}
        return await self._change(QUERIES.end_follow, "none", follower, followee, what)

    async def _change(
        self,
        query: Query,
        state: State,
        follower: AccountId,
        followee: AccountId,
        what: Mapping[str, Any],
        *news: Event,
    ) -> bool:
        if not has_shard(self._shards, follower):
            return False
        async with self._shards.owner(follower).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=follower)
            change_id = await tx.fetch_value(query, account_id=follower, followee_id=followee, **what)
            if change_id is None:
                return False
            change = change_to(state, follower, followee, change_id, is_approved=True)
            await self._outbox.add(tx, change, *news)
            self._ties.change_with(tx, follower)
        await self._mirror.settle(change)
        log.info("follow.changed", follower_id=follower, followee_id=followee, state=state)
        return True


async def _explain(tx: Transaction, follower: AccountId, followee: AccountId) -> State:
    """Why nothing was inserted: it is there already, or it may not be."""
    row = await tx.fetch_one(QUERIES.find_follow, account_id=follower, followee_id=followee)
    if row is not None:
        return "requested" if row["is_requested"] else "active"
    relation = await tx.fetch_one(QUERIES.relations, viewer_id=follower, others=[followee])
    if relation is None or relation["blocks"] or relation["is_blocked"]:
        raise AccountNotFound
    raise TooManyFollowees
