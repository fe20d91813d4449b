"""Lists of people as a viewer may see them, a page at a time, each with how the viewer stands to them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from shardwright.running import Query, Shards
from tintype.accounts import AccountNotFound, Accounts
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.graph.relations import Seen, relation_or_stranger
from tintype.graph.service import Graph
from tintype.graph.sight import Sight
from tintype.graph.store import QUERIES

MOST_ROUNDS = 5
"""Reads for one page: where many rows in a row are hidden, the page is short and its cursor leads on."""
MUTUALS_AMONG = 1_000
"""Of how many of the viewer's newest followees mutuals are sought: so many index probes on the other shard."""
MUTUALS_LOOKED_AT, MUTUALS_NAMED = 12, 3
"""So many are looked up to name a few of them, in case some are not in use."""

Look = Callable[[AccountId, Iterable[AccountId]], Awaitable[dict[AccountId, Seen]]]
Kind = Literal["muted", "close_friends", "restricted"]


@dataclass(frozen=True)
class PeoplePage:
    """People, and where the next page begins."""

    people: list[Seen]
    next_before: int | None


@dataclass(frozen=True)
class Mutuals:
    """Followers of somebody whom the viewer follows as well."""

    people: list[Seen]
    count: int
    is_exact: bool
    """False for a viewer who follows so many that only the newest were looked at."""


class Circles:
    """The lists. Cursors name a change and not a distance, so they hold while rows arrive."""

    def __init__(self, shards: Shards, accounts: Accounts, graph: Graph, sight: Sight) -> None:
        self._shards, self._accounts, self._graph, self._sight = shards, accounts, graph, sight

    async def followers(
        self, viewer: AccountId, of: AccountId, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """Who follows an account, newest first."""
        await self._check(viewer, of)
        return await self._page(QUERIES.newest_followers, viewer, of, before=before, limit=limit)

    async def following(
        self, viewer: AccountId, of: AccountId, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """Whom an account follows, newest first."""
        await self._check(viewer, of)
        return await self._page(QUERIES.newest_followees, viewer, of, before=before, limit=limit)

    async def requests(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Who waits for the viewer's yes, newest first."""
        return await self._page(QUERIES.newest_requests, viewer, viewer, before=before, limit=limit)

    async def sent_requests(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Whose yes the viewer waits for, newest first."""
        return await self._page(QUERIES.newest_sent_requests, viewer, viewer, before=before, limit=limit)

    async def blocks(self, viewer: AccountId, *, before: int = LARGEST_ID, limit: int) -> PeoplePage:
        """Whom the viewer has blocked: the one list that shows those who are otherwise hidden."""
        return await self._page(
            QUERIES.newest_blocks, viewer, viewer, before=before, limit=limit, look=self._in_use
        )

    async def treated(
        self, viewer: AccountId, kind: Kind, *, before: int = LARGEST_ID, limit: int
    ) -> PeoplePage:
        """Whom the viewer has muted, restricted, or counts among close friends."""
        return await self._page(QUERIES.page_attitudes, viewer, viewer, before=before, limit=limit, kind=kind)

    async def mutuals(self, viewer: AccountId, of: AccountId) -> Mutuals:
        """Those whom the viewer follows and who follow an account: a few by name, and how many there are."""
        await self._check(viewer, of)
        followees = await self._shards.owner(viewer).fetch(
            QUERIES.newest_followees, account_id=viewer, before=LARGEST_ID, limit=MUTUALS_AMONG
        )
        ids = [AccountId(row["id"]) for row in followees]
        rows = await self._shards.owner(of).fetch(QUERIES.which_follow, account_id=of, candidates=ids)
        both = {row["follower_id"] for row in rows}
        newest = [each for each in ids if each in both][:MUTUALS_LOOKED_AT]
        seen = await self._sight.of(viewer, newest)
        named = [seen[each] for each in newest if each in seen][:MUTUALS_NAMED]
        hidden = len(newest) - len(seen)
        return Mutuals(named, len(both) - hidden, is_exact=len(ids) < MUTUALS_AMONG)

    async def _check(self, viewer: AccountId, of: AccountId) -> None:
        if not (await self._sight.get(viewer, of)).shows_content:
            raise AccountNotFound

    async def _in_use(self, viewer: AccountId, ids: Iterable[AccountId]) -> dict[AccountId, Seen]:
        accounts = await self._accounts.find_many(ids)
        relations = await self._graph.relations(viewer, accounts)
        return {
            each: Seen(account, relation_or_stranger(relations, each))
            for each, account in accounts.items()
            if account.is_active
        }

    async def _page(
        self,
        query: Query,
        viewer: AccountId,
        of: AccountId,
        *,
        before: int,
        limit: int,
        look: Look | None = None,
        **more: str,
    ) -> PeoplePage:
        """Read on past those whom the viewer may not see, until the page is full."""
        people: list[Seen] = []
        for _ in range(MOST_ROUNDS):
            rows = await self._shards.owner(of).fetch(
                query, account_id=of, before=before, limit=limit + 1, **more
            )
            seen = await (look or self._sight.of)(viewer, [AccountId(row["id"]) for row in rows])
            for row in rows[:limit]:
                before = row["place"]
                if row["id"] in seen:
                    people.append(seen[row["id"]])
                if len(people) == limit:
                    return PeoplePage(people, None if row is rows[-1] else before)
            if len(rows) <= limit:
                return PeoplePage(people, None)
        return PeoplePage(people, before)
