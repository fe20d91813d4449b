"""The graph as other rooms use it: how people stand to each other, who follows whom, and what keeps both sides true."""

from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta

import asyncpg

from shardwright.running import Shards
from tintype.accounts import Accounts, PrivacyChanged
from tintype.base.belongings import Record
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.limits import Limiter
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.base.ties import Ties
from tintype.graph.attitudes import Attitudes
from tintype.graph.blocking import Blocks
from tintype.graph.events import BlockChanged, FollowChanged, FollowDecided, FollowRequested, State
from tintype.graph.following import MOST_FOLLOWEES, Follows
from tintype.graph.leaving import Leaving
from tintype.graph.mirroring import Change, Listener, Mirror
from tintype.graph.relations import ONESELF, STRANGER, Relation
from tintype.graph.store import QUERIES, Desk

KEEP_ENDED = timedelta(days=7)
"""How long the trace of an ended follow or block tells late events that they are late."""
log = get_log("graph")


class Graph:
    """Who follows, blocks and treats whom how. The one who does it holds the truth; the other's shard converges."""

    def __init__(
        self, shards: Shards, outbox: Outbox, accounts: Accounts, limiter: Limiter, ties: Ties
    ) -> None:
        self._shards, self._ties = shards, ties
        desk = Desk(shards, outbox, accounts, limiter, ties)
        self.mirror = Mirror(desk)
        self.follows = Follows(desk, self.mirror)
        self.blocks = Blocks(desk, self.mirror, self.follows)
        self.attitudes = Attitudes(desk)
        self._leaving = Leaving(desk, self.follows, self.blocks)

    async def follow(self, follower: AccountId, followee: AccountId) -> State:
        """Follow, or ask to, once; returns which it became."""
        return await self.follows.follow(follower, followee)

    async def unfollow(self, follower: AccountId, followee: AccountId) -> None:
        """Cease to follow, effective at once on every read of the follower."""
        await self.follows.unfollow(follower, followee)

    async def relations(
        self, viewer: AccountId | None, others: Iterable[AccountId]
    ) -> dict[AccountId, Relation]:
        """How a viewer stands to others, from one query on the viewer's shard; a guest is everybody's stranger."""
        wanted = set(others) - {viewer}
        found = {viewer: ONESELF} if viewer is not None else {}
        if viewer is not None and wanted:
            rows = await self._shards.owner(viewer).fetch(
                QUERIES.relations, viewer_id=viewer, others=list(wanted)
            )
            found |= {AccountId(row["id"]): _relation(row) for row in rows}
        return found

    async def relation_at(self, target: AccountId, viewer: AccountId | None) -> Relation:
        """The same from the target's shard, for a page that reads that shard alone.

        What only the viewer's shard knows (mutes, close friends, restrictions) is left out.
        """
        if viewer is None or viewer == target:
            return STRANGER if viewer is None else ONESELF
        row = await self._shards.owner(target).fetch_one(
            QUERIES.relation_at, target_id=target, viewer_id=viewer
        )
        return _relation(row) if row else STRANGER

    async def which_followed(self, by: AccountId, candidates: Iterable[AccountId]) -> set[AccountId]:
        """Those of the candidates that `by` follows, from the truth on the follower's shard."""
        rows = await self._shards.owner(by).fetch(
            QUERIES.which_followed, account_id=by, candidates=list(set(candidates))
        )
        return {AccountId(row["followee_id"]) for row in rows}

    async def list_followees(self, of: AccountId) -> list[AccountId]:
        """Whom an account follows."""
        return await self._shards.owner(of).fetch_value(
            QUERIES.list_followees, account_id=of, limit=MOST_FOLLOWEES
        )

    async def pages_of_followers(
        self, of: AccountId, *, size: int = 1000, after: int = 0, until: int = LARGEST_ID
    ) -> AsyncIterator[list[AccountId]]:
        """All followers whose ids lie above `after` and not above `until`, a page at a time."""
        while True:
            page: list[AccountId] = await self._shards.owner(of).fetch_value(
                QUERIES.page_followers, account_id=of, after=after, until=until, limit=size
            )
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1]

    async def cut_followers(self, of: AccountId, *, size: int) -> list[int]:
        """The ids at which work on all followers can be cut into parts of this size."""
        rows = await self._shards.owner(of).fetch(QUERIES.cut_followers, account_id=of, size=size)
        return [row["follower_id"] for row in rows]

    async def settle(self, change: FollowChanged) -> None:
        """The followee's side knows of a new follow, whether or not its own event has been handled."""
        rows = await self._shards.owner(change.followee_id).fetch(
            QUERIES.which_follow, account_id=change.followee_id, candidates=[change.follower_id]
        )
        if not rows:
            await self.mirror.apply(change)

    def listen(self, listener: Listener) -> None:
        """Call this, too, right after somebody has begun to follow somebody."""
        self.mirror.listen(listener)

    def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Everything between this person and others."""
        return self._leaving.export(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Remove some of what is between this person and others, on all shards; returns how much."""
        return await self._leaving.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How much of it there still is."""
        return await self._leaving.count_left(account_id)

    async def sweep(self) -> None:
        """Drop the traces of what ended so long ago that no event about it is under way any more."""
        before = self._shards.map.layout.min_id_at(datetime.now(UTC) - KEEP_ENDED)
        for query in (QUERIES.sweep_followers, QUERIES.sweep_blocked_by):
            (await self._shards.everywhere().execute(query, before=before)).complete()
        log.info("traces.swept")

    async def approve_forgotten(self) -> None:
        """Nobody waits for a public account, even where the handler of its becoming public gave up."""
        found = (await self._shards.everywhere().fetch(QUERIES.public_with_requests)).rows
        for row in found:
            await self.follows.approve_all(PrivacyChanged(AccountId(row["account_id"]), is_private=False))
        if found:
            log.warning("requests.forgotten", accounts=len(found))

    def handlers(self) -> list[Handler]:
        """What the graph does when something has happened."""
        return [
            on(FollowChanged, self._apply, name="graph-mirror"),
            on(FollowRequested, self._apply, name="graph-mirror-request"),
            on(FollowDecided, self.mirror.correct, name="graph-correct"),
            on(BlockChanged, self.blocks.apply, name="graph-mirror-block"),
            on(PrivacyChanged, self.follows.approve_all, name="graph-approve-all"),
        ]

    def schedules(self) -> list[Schedule]:
        """What the graph repeats by the clock."""
        return [
            Schedule("graph-sweep", 86_400, self.sweep),
            Schedule("graph-approve-forgotten", 3600, self.approve_forgotten),
        ]

    async def _apply(self, change: Change) -> None:
        await self._ties.changed(change.follower_id)  # whoever changed it may have died before saying so
        await self.mirror.apply(change)


def _relation(row: asyncpg.Record) -> Relation:
    return Relation(**{name: value for name, value in row.items() if name != "id"})
