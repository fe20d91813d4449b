"""Follow, unfollow, approve, decline: each is one transaction on the follower's shard, mirrored before the answer.

Follow and unfollow are one statement each.
"""

from typing import Any

from shardwright.routing import Transaction
from tintype.accounts import AccountNotFound, PrivacyChanged
from tintype.base.ids import LARGEST_ID, AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import FOLLOW
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.errors import CannotFollowYourself, RequestNotFound, TooManyFollowees
from tintype.graph.events import FollowApproved, FollowChanged, FollowRequested, State
from tintype.graph.follower_mirror import Change, FollowerMirror, change_to
from tintype.graph.store import QUERIES

MAX_FOLLOWEES = 7_500
"""Requests that wait for approval count as well."""
BATCH = 200
log = get_log("graph")


class Follows:
    """Follows and follow requests."""

    def __init__(self, deps: GraphDependencies, mirror: FollowerMirror) -> None:
        self._deps, self._shards, self._mirror = deps, deps.shards, mirror
        self._rows = deps.follow_rows

    async def follow(self, follower: AccountId, followee: AccountId) -> State:
        """Follow somebody, or request it from a private account; doing it twice changes nothing."""
        if follower == followee:
            raise CannotFollowYourself
        await self._deps.limiter.acquire(FOLLOW, follower)
        account = await self._deps.accounts.get(followee, with_counts=False)
        if not account.is_active:
            raise AccountNotFound
        state, change = await self._begin(follower, followee, is_requested=account.is_private)
        if change is None:
            return state
        decided = await self._mirror.apply_at_once(change) or state
        log.debug("follow.changed", follower_id=follower, followee_id=followee, state=decided)
        if decided == "none":
            raise AccountNotFound
        return decided

    async def unfollow(self, follower: AccountId, followee: AccountId) -> bool:
        """End a follow or withdraw a request; returns whether there was any."""
        return await self._end(follower, followee)

    async def remove_follower(self, followee: AccountId, follower: AccountId) -> bool:
        """End somebody else's follow or request of oneself; returns whether there was any."""
        return await self._end(follower, followee)

    async def decline(self, followee: AccountId, follower: AccountId) -> bool:
        """Decline a request; somebody who follows already keeps following."""
        return await self._end(follower, followee, only_requested=True)

    async def approve(self, followee: AccountId, follower: AccountId) -> None:
        """Approve a request; `RequestNotFound` if it was withdrawn. Approving twice is no error."""
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
        """Approve all requests of an account that became public; later ones find it public."""
        before = LARGEST_ID
        shard = self._shards.owner(change.account_id)
        while await self._deps.accounts.read_privacy(change.account_id) is False:
            rows = await shard.fetch(
                QUERIES.newest_requests, account_id=change.account_id, before=before, limit=BATCH
            )
            for row in rows:
                await self._approve(change.account_id, AccountId(row["id"]))
            if len(rows) < BATCH:
                return
            before = rows[-1]["cursor"]

    async def approve_forgotten(self) -> None:
        """Approve requests of public accounts whose handler of `PrivacyChanged` failed for good."""
        found = (await self._shards.everywhere().fetch(QUERIES.public_with_requests)).rows
        for row in found:
            await self.approve_all(PrivacyChanged(AccountId(row["account_id"]), is_private=False))
        if found:
            log.warning("requests.forgotten", accounts=len(found))

    async def end_in(self, tx: Transaction, follower: AccountId, followee: AccountId) -> Change | None:
        """End a follow within a transaction that has locked the follower; the caller announces and mirrors it."""
        change_id = await self._rows.end(tx, follower, followee)
        self._deps.viewer_invalidation.invalidate_after_commit(tx, follower)
        return change_to("none", follower, followee, change_id, is_approved=False) if change_id else None

    async def _begin(
        self, follower: AccountId, followee: AccountId, *, is_requested: bool
    ) -> tuple[State, Change | None]:
        state: State = "requested" if is_requested else "active"
        shard = self._shards.owner(follower)
        kind = FollowRequested if is_requested else FollowChanged
        fields: dict[str, Any] = {"follower_id": follower, "followee_id": followee}
        if not is_requested:
            fields["is_following"] = True
        row = await shard.fetch_one(
            QUERIES.follow_at_once,
            account_id=follower,
            followee_id=followee,
            is_requested=is_requested,
            limit=MAX_FOLLOWEES,
            **self._deps.outbox.prepare(kind, **fields),
        )
        if row is not None and row["was_requested"] is not None:
            return "requested" if row["was_requested"] else "active", None
        if row is None or row["change_id"] is None:
            return await self._begin_locked(follower, followee, state)
        await self._deps.outbox.wake(shard)
        return state, change_to(state, follower, followee, row["change_id"], is_approved=False)

    async def _begin_locked(
        self, follower: AccountId, followee: AccountId, state: State
    ) -> tuple[State, Change | None]:
        """`_begin` under the lock: when follows or blocks of the follower change at the same moment, or refuse it."""
        async with self._shards.owner(follower).begin() as tx:
            account = await self._deps.accounts.lock(tx, follower)
            if account is None:
                raise AccountNotFound
            change_id = await self._rows.add(
                tx,
                follower,
                followee,
                is_requested=state == "requested",
                following_count=account.following_count,
                limit=MAX_FOLLOWEES,
            )
            if change_id is None:
                return await _why_not(tx, follower, followee), None
            change = change_to(state, follower, followee, change_id, is_approved=False)
            await self._deps.outbox.add(tx, change)
            self._deps.viewer_invalidation.invalidate_after_commit(tx, follower)
        return state, change

    async def _end(
        self, follower: AccountId, followee: AccountId, *, only_requested: bool | None = None
    ) -> bool:
        if not has_shard(self._shards, follower):
            return False
        shard, outbox = self._shards.owner(follower), self._deps.outbox
        change_id: int | None = await shard.fetch_value(
            QUERIES.end_follow_at_once,
            account_id=follower,
            followee_id=followee,
            only_requested=only_requested,
            **outbox.prepare(FollowChanged, follower_id=follower, followee_id=followee, is_following=False),
        )
        if change_id is None:
            return False
        await outbox.wake(shard)
        await self._mirror.apply_at_once(change_to("none", follower, followee, change_id, is_approved=False))
        log.debug("follow.changed", follower_id=follower, followee_id=followee, state="none")
        return True

    async def _approve(self, followee: AccountId, follower: AccountId) -> bool:
        """Turn a request into a follow under the follower's lock, announce it, and mirror it."""
        if not has_shard(self._shards, follower):
            return False
        async with self._shards.owner(follower).begin() as tx:
            await self._deps.accounts.lock(tx, follower)
            change_id = await self._rows.turn(tx, follower, followee, is_requested=False)
            if change_id is None:
                return False
            change = change_to("active", follower, followee, change_id, is_approved=True)
            await self._deps.outbox.add(tx, change, FollowApproved(follower, followee))
            self._deps.viewer_invalidation.invalidate_after_commit(tx, follower)
        await self._mirror.apply_at_once(change)
        log.debug("follow.changed", follower_id=follower, followee_id=followee, state="active")
        return True


async def _why_not(tx: Transaction, follower: AccountId, followee: AccountId) -> State:
    """Why no follow was inserted: it exists already, there is a block, or there are too many."""
    row = await tx.fetch_one(QUERIES.find_follow, account_id=follower, followee_id=followee)
    if row is not None:
        return "requested" if row["is_requested"] else "active"
    relation = await tx.fetch_one(QUERIES.relations, viewer_id=follower, others=[followee])
    if relation is None or relation["blocks"] or relation["is_blocked"]:
        raise AccountNotFound
    raise TooManyFollowees
