"""The followee's side of a follow, and what happens when it takes a change otherwise than it was meant.

The follower's shard holds the truth, but only the followee's shard knows for sure whether the followee is private, has
blocked the follower or is about to leave. So a change is checked again where it arrives, under the followee's lock; a
change that is taken otherwise is announced back, and the truth is corrected, unless it has moved on meanwhile.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import asyncpg

from shardwright.errors import ShardwrightError
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.graph.events import FollowChanged, FollowDecided, FollowRequested, State
from tintype.graph.store import QUERIES, AtDesk, Desk

Change = FollowChanged | FollowRequested
Listener = Callable[[FollowChanged], Awaitable[None]]
AWAY = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What may befall the other shard after our own has committed; the event brings it in line later."""
OLD = timedelta(days=1)
"""Ended follows are swept after a week: an event that has waited for long in the dead letters asks the truth first."""
log = get_log("graph")


class Mirror(AtDesk):
    """Brings both sides of every follow in line; safe to repeat and to reorder."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call this, too, right after somebody has begun to follow somebody; the event says the same later."""
        self._listeners.append(listener)

    async def settle(self, change: Change) -> State | None:
        """Both sides agree when the answer goes out; a side that is away is brought in line by the event."""
        try:
            decided = await self.apply(change)
        except AWAY as error:
            log.warning("mirror.postponed", followee_id=change.followee_id, error=str(error))
            await self._accounts.forget(change.follower_id)
            decided = None
        if isinstance(change, FollowChanged) and change.is_following:
            for listener in self._listeners:
                await listener(change)
        return decided

    async def apply(self, change: Change) -> State | None:
        """Bring the followee's side in line. Returns what it made of the change; None when it knows a newer one."""
        wanted = wanted_by(change)
        if wanted != "none" and self.is_old(change.change_id) and not await self._is_true(change):
            wanted = "none"
        decided = await self._write(change, wanted)
        await self._accounts.forget(change.follower_id, change.followee_id)
        if decided is not None and decided != wanted:
            log.info("follow.decided", follower_id=change.follower_id, wanted=wanted, decided=decided)
            await self._correct_at_once(_decision(change, decided))
        return decided

    async def correct(self, decided: FollowDecided) -> None:
        """Bring the truth in line with what the followee's side made of it, unless it has moved on."""
        follower, followee = decided.follower_id, decided.followee_id
        async with self._shards.owner(follower).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=follower)
            pair = {"account_id": follower, "followee_id": followee, "only_change": decided.change_id}
            if decided.state == "none":
                change_id = await tx.fetch_value(QUERIES.end_follow, only_requested=None, **pair)
            else:
                change_id = await tx.fetch_value(
                    QUERIES.turn_follow, is_requested=decided.state == "requested", **pair
                )
            if change_id is None:
                return
            change = change_to(decided.state, follower, followee, change_id, is_approved=True)
            await self._outbox.add(tx, change)
            self._ties.change_with(tx, follower)
        await self.settle(change)

    def is_old(self, change_id: int) -> bool:
        """Whether traces of what ended since may have been swept."""
        return self._shards.map.layout.id_time(change_id) < datetime.now(UTC) - OLD

    async def _write(self, change: Change, wanted: State) -> State | None:
        followee = change.followee_id
        async with self._shards.owner(followee).begin() as tx:
            account = await tx.fetch_one(QUERIES.lock_account, account_id=followee)
            decided = _decide(change, wanted, account)
            if account is not None:
                row = await tx.fetch_one(
                    QUERIES.mirror_follow,
                    account_id=followee,
                    follower_id=change.follower_id,
                    change_id=change.change_id,
                    is_active=decided == "active",
                    is_requested=decided == "requested",
                )
                if row is None:
                    return None
                decided = _state(row)
            if decided != wanted:
                await self._outbox.add(tx, _decision(change, decided))
        return decided

    async def _is_true(self, change: Change) -> bool:
        row = await self._shards.owner(change.follower_id).fetch_one(
            QUERIES.find_follow, account_id=change.follower_id, followee_id=change.followee_id
        )
        return row is not None and row["change_id"] == change.change_id

    async def _correct_at_once(self, decided: FollowDecided) -> None:
        try:
            await self.correct(decided)
        except AWAY as error:
            log.warning("correction.postponed", follower_id=decided.follower_id, error=str(error))


def wanted_by(change: Change) -> State:
    """What a change is meant to lead to."""
    if isinstance(change, FollowRequested):
        return "requested"
    return "active" if change.is_following else "none"


def change_to(
    state: State, follower: AccountId, followee: AccountId, change_id: int, *, is_approved: bool
) -> Change:
    """The event of a pair's new state."""
    if state == "requested":
        return FollowRequested(follower, followee, change_id)
    is_following = state == "active"
    return FollowChanged(follower, followee, change_id, is_following, is_approved and is_following)


def _decide(change: Change, wanted: State, account: asyncpg.Record | None) -> State:
    """What the followee's shard makes of a change; blocks are looked up by the statement that writes."""
    if wanted == "none" or account is None or account["status"] == "leaving":
        return "none"
    if isinstance(change, FollowChanged) and change.is_approved:
        return "active"
    return "requested" if account["is_private"] else "active"


def _decision(change: Change, decided: State) -> FollowDecided:
    return FollowDecided(change.follower_id, change.followee_id, change.change_id, decided)


def _state(row: asyncpg.Record) -> State:
    if row["is_active"]:
        return "active"
    return "requested" if row["is_requested"] else "none"
