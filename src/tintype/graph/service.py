"""Following and unfollowing, and the mirror that lets a followee know its followers."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.running import Queries, Query, Shards
from tintype.accounts import Accounts
from tintype.base.errors import Invalid
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.graph.events import FollowChanged
from tintype.graph.relations import ONESELF, STRANGER, Relation

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
MOST_FOLLOWEES = 7_500
log = get_log("graph")


class CannotFollowYourself(Invalid):
    """You cannot follow yourself."""

    code = "cannot_follow_yourself"


class Graph:
    """Who follows whom. The follower's shard holds the truth; the followee's shard converges to it."""

    def __init__(self, shards: Shards, outbox: Outbox, accounts: Accounts) -> None:
        self._shards, self._outbox, self._accounts = shards, outbox, accounts

    async def follow(self, follower: AccountId, followee: AccountId) -> None:
        """Follow once, however often it is asked for."""
        if follower == followee:
            raise CannotFollowYourself
        await self._accounts.get(followee)
        await self._change(QUERIES.follow, follower, followee, is_following=True)

    async def unfollow(self, follower: AccountId, followee: AccountId) -> None:
        """Cease to follow, effective at once on every read of the follower."""
        await self._change(QUERIES.unfollow, follower, followee, is_following=False)

    async def mirror(self, change: FollowChanged) -> None:
        """Bring the followee's shard in line with a change; safe to repeat and to reorder."""
        async with self._shards.owner(change.followee_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=change.followee_id)
            delta = await tx.fetch_value(
                QUERIES.mirror_follow,
                account_id=change.followee_id,
                follower_id=change.follower_id,
                change_id=change.change_id,
                is_active=change.is_following,
            )
            if delta:
                await tx.execute(QUERIES.count_followers, account_id=change.followee_id, delta=delta)
        if delta:
            await self._accounts.forget(change.followee_id)

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
        """How a viewer stands to one account, from one query on that account's shard."""
        if viewer is None:
            return STRANGER
        if viewer == target:
            return ONESELF
        row = await self._shards.owner(target).fetch_one(
            QUERIES.relation_at, target_id=target, viewer_id=viewer
        )
        return _relation(row) if row is not None else STRANGER

    async def which_followed(self, by: AccountId, candidates: Iterable[AccountId]) -> set[AccountId]:
        """Those of the candidates that `by` follows, from the truth on the follower's shard."""
        rows = await self._shards.owner(by).fetch(
            QUERIES.which_followed, account_id=by, candidates=list(set(candidates))
        )
        return {AccountId(row["followee_id"]) for row in rows}

    async def list_followees(self, of: AccountId) -> list[AccountId]:
        """Whom an account follows."""
        rows = await self._shards.owner(of).fetch(QUERIES.list_followees, account_id=of, limit=MOST_FOLLOWEES)
        return [AccountId(row["followee_id"]) for row in rows]

    async def pages_of_followers(self, of: AccountId, *, size: int = 1000) -> AsyncIterator[list[AccountId]]:
        """All followers, a page at a time."""
        after = 0
        while True:
            rows = await self._shards.owner(of).fetch(
                QUERIES.page_followers, account_id=of, after=after, limit=size
            )
            page = [AccountId(row["follower_id"]) for row in rows]
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1]

    def handlers(self) -> list[Handler]:
        """What the graph does when something has happened."""
        return [on(FollowChanged, self.mirror, name="graph-mirror")]

    async def _mirror_at_once(self, change: FollowChanged) -> None:
        """Both sides agree when the answer goes out; a side that is away is brought in line by the event."""
        try:
            await self.mirror(change)
        except (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning("mirror.postponed", followee_id=change.followee_id, error=str(error))

    async def _change(
        self, query: Query, follower: AccountId, followee: AccountId, *, is_following: bool
    ) -> None:
        async with self._shards.owner(follower).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, account_id=follower)
            change_id = await tx.fetch_value(query, account_id=follower, followee_id=followee)
            if change_id is None:
                return
            await tx.execute(QUERIES.count_following, account_id=follower, delta=1 if is_following else -1)
            change = FollowChanged(follower, followee, change_id, is_following)
            await self._outbox.add(tx, change)
        await self._accounts.forget(follower)
        await self._mirror_at_once(change)
        log.info("follow.changed", follower_id=follower, followee_id=followee, is_following=is_following)


def _relation(row: asyncpg.Record) -> Relation:
    return Relation(**{name: value for name, value in row.items() if name != "id"})
