"""The followee's side of a follow (`followers`), which mirrors the follower's side (`following`, the truth).

The follower's shard holds the truth, but only the followee's shard knows for sure whether the followee is private, has
blocked the follower or is being deleted. So every change is checked again where it arrives, under the lock of the
followee's account. Where the outcome differs from what was meant, `FollowDecided` is announced and the truth is
corrected, unless it has changed again meanwhile.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import asyncpg

from shardwright.errors import ShardwrightError
from tintype.accounts import LockedAccount
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId
from tintype.base.keyed_locks import KeyedLocks
from tintype.base.log import get_log
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.events import FollowChanged, FollowDecided, FollowRequested, State
from tintype.graph.store import QUERIES
from tintype.redis.client import Command
from tintype.redis.command_listeners import CommandListeners

Change = FollowChanged | FollowRequested
UNAVAILABLE = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""Errors of the other shard after our own has committed; the handler of the event repeats the change later."""
OLD = timedelta(days=1)
"""Ended follows are swept after a week: a change that is older than this is compared with the truth first."""
YOUNG, ASK_LATER_S = timedelta(seconds=2), 0.3
"""A change that is younger may not be mirrored yet because its process is about to do so; then it is asked later."""
MAX_KNOWN, KNOWN_S = 10_000, 5.0
"""The newest changes that followees' sides were seen to know, for some seconds."""
log = get_log("graph")


class FollowerMirror:
    """Applies changes to the followee's side and corrections to the follower's; idempotent, in any order."""

    def __init__(self, deps: GraphDependencies) -> None:
        self._deps, self._rows = deps, deps.follow_rows
        self.followed: CommandListeners[FollowChanged] = CommandListeners()
        self._locks: KeyedLocks[AccountId] = KeyedLocks()
        self._asking = asyncio.Lock()
        self._known: BoundedMap[tuple[AccountId, AccountId], tuple[int, float]] = BoundedMap(MAX_KNOWN)

    async def apply_at_once(self, change: Change) -> State | None:
        """Apply a change before the answer goes out; if the shard is unavailable, the event does it later.

        What both sides' caches hold of the follower and the followee is then invalidated, in one round trip.
        """
        along = self._deps.viewer_invalidation.commands(change.follower_id)
        if isinstance(change, FollowChanged) and change.is_following:
            along += self.followed.commands(change)
        try:
            return await self.apply(change, along=along)
        except UNAVAILABLE as error:
            log.warning("mirror.postponed", followee_id=change.followee_id, error=str(error))
            await self._deps.accounts.invalidate_counts(change.follower_id, along=along)
            return None

    async def apply(self, change: Change, *, along: Sequence[Command] = ()) -> State | None:
        """Apply a change to the followee's side; returns the resulting state, or None when it knows a newer change.

        The Redis commands `along` go out with the invalidation of both counts.
        """
        wanted = wanted_state(change)
        if wanted != "none" and self.is_old(change.change_id) and not await self._is_true(change):
            wanted = "none"
        async with self._locks.of(change.followee_id):
            decided = await self._write(change, wanted)
        await self._deps.accounts.invalidate_counts(change.follower_id, change.followee_id, along=along)
        if decided is not None and decided != wanted:
            log.info("follow.decided", follower_id=change.follower_id, wanted=wanted, decided=decided)
            await self._correct_at_once(_decision(change, decided))
        return decided

    async def correct(self, decided: FollowDecided) -> None:
        """Correct the follower's side to what the followee's side decided, unless it has changed since."""
        follower, followee = decided.follower_id, decided.followee_id
        async with self._deps.shards.owner(follower).begin() as tx:
            await self._deps.accounts.lock(tx, follower)
            if decided.state == "none":
                change_id = await self._rows.end(tx, follower, followee, only_change=decided.change_id)
            else:
                is_requested = decided.state == "requested"
                change_id = await self._rows.turn(
                    tx, follower, followee, is_requested=is_requested, only_change=decided.change_id
                )
            if change_id is None:
                return
            change = change_to(decided.state, follower, followee, change_id, is_approved=True)
            await self._deps.outbox.add(tx, change)
            self._deps.viewer_invalidation.invalidate_after_commit(tx, follower)
        await self.apply_at_once(change)

    def is_old(self, change_id: int) -> bool:
        """Whether the trace of a later end of this follow may have been swept already."""
        return self._age(change_id) > OLD

    def _age(self, change_id: int) -> timedelta:
        return datetime.now(UTC) - self._deps.shards.map.layout.id_time(change_id)

    async def find_unmirrored(self, changes: Iterable[Change]) -> list[Change]:
        """Those of the changes that the followee's side does not know yet, nor a newer one; one read per server.

        What it knew a moment ago is not asked again: several handlers of one event come here. Where it does not know
        a change that was made a moment ago, the process that made it is mostly about to mirror it: it is asked later.
        """
        newest: dict[tuple[AccountId, AccountId], Change] = {}
        for each in sorted(changes, key=lambda change: change.change_id):
            newest[each.followee_id, each.follower_id] = each
        unknown = await self._find_unknown(newest)
        if any(self._age(each.change_id) < YOUNG for each in unknown.values()):
            await asyncio.sleep(ASK_LATER_S)
            unknown = await self._find_unknown(unknown)
        return list(unknown.values())

    async def _find_unknown(
        self, newest: Mapping[tuple[AccountId, AccountId], Change]
    ) -> dict[tuple[AccountId, AccountId], Change]:
        async with self._asking:
            asked = [pair for pair, each in newest.items() if not self._is_known(pair, each.change_id)]
            if asked:
                await self._read_known(asked)
        return {pair: newest[pair] for pair in asked if not self._is_known(pair, newest[pair].change_id)}

    async def _read_known(self, pairs: Iterable[tuple[AccountId, AccountId]]) -> None:
        followees, followers = zip(*pairs, strict=True)
        gathered = await self._deps.shards.gather(
            QUERIES.gather_mirrored, list(set(followees)), follower_ids=list(set(followers))
        )
        until = time.monotonic() + KNOWN_S
        for row in gathered.complete():
            self._known[row["account_id"], row["follower_id"]] = row["change_id"], until

    def _is_known(self, pair: tuple[AccountId, AccountId], change_id: int) -> bool:
        newest, until = self._known.get(pair, (0, 0.0))
        return newest >= change_id and until > time.monotonic()

    async def _write(self, change: Change, wanted: State) -> State | None:
        shard, outbox = self._deps.shards.owner(change.followee_id), self._deps.outbox
        row = await shard.fetch_one(
            QUERIES.mirror_follow_at_once,
            account_id=change.followee_id,
            follower_id=change.follower_id,
            change_id=change.change_id,
            wanted=wanted,
            is_approved=isinstance(change, FollowChanged) and change.is_approved,
            **outbox.prepare(
                FollowDecided,
                last="state",
                follower_id=change.follower_id,
                followee_id=change.followee_id,
                change_id=change.change_id,
            ),
        )
        if row is None:
            return await self._write_locked(change, wanted)
        state: State | None = row["state"]
        if state is not None and state != wanted:
            await outbox.wake(shard)
        return state

    async def _write_locked(self, change: Change, wanted: State) -> State | None:
        """`_write` when the followee's account changes at the same moment, or is gone: waits for the lock first."""
        followee = change.followee_id
        async with self._deps.shards.owner(followee).begin() as tx:
            account = await self._deps.accounts.lock(tx, followee)
            decided = _decide(change, wanted, account)
            if account is not None:
                row = await self._rows.mirror(
                    tx,
                    followee,
                    change.follower_id,
                    change_id=change.change_id,
                    is_active=decided == "active",
                    is_requested=decided == "requested",
                )
                if row is None:
                    return None
                decided = _state(row)
            if decided != wanted:
                await self._deps.outbox.add(tx, _decision(change, decided))
        return decided

    async def _is_true(self, change: Change) -> bool:
        row = await self._deps.shards.owner(change.follower_id).fetch_one(
            QUERIES.find_follow, account_id=change.follower_id, followee_id=change.followee_id
        )
        return row is not None and row["change_id"] == change.change_id

    async def _correct_at_once(self, decided: FollowDecided) -> None:
        try:
            await self.correct(decided)
        except UNAVAILABLE as error:
            log.warning("correction.postponed", follower_id=decided.follower_id, error=str(error))


def wanted_state(change: Change) -> State:
    """The state that a change is meant to lead to."""
    if isinstance(change, FollowRequested):
        return "requested"
    return "active" if change.is_following else "none"


def change_to(
    state: State, follower: AccountId, followee: AccountId, change_id: int, *, is_approved: bool
) -> Change:
    """The event that announces a pair's new state."""
    if state == "requested":
        return FollowRequested(follower, followee, change_id)
    is_following = state == "active"
    return FollowChanged(follower, followee, change_id, is_following, is_approved and is_following)


def _decide(change: Change, wanted: State, account: LockedAccount | None) -> State:
    """The outcome of a change on the followee's shard; blocks are checked by the statement that writes."""
    if wanted == "none" or account is None or account.status == "leaving":
        return "none"
    if isinstance(change, FollowChanged) and change.is_approved:
        return "active"
    return "requested" if account.is_private else "active"


def _decision(change: Change, decided: State) -> FollowDecided:
    return FollowDecided(change.follower_id, change.followee_id, change.change_id, decided)


def _state(row: asyncpg.Record) -> State:
    if row["is_active"]:
        return "active"
    return "requested" if row["is_requested"] else "none"
