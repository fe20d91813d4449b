"""Finding people: by the beginning of their name, by any word of it, and in spite of typing errors."""

import math
from collections.abc import Collection

from shardwright.running import Shards
from tintype.accounts import AccountChanged, AccountCreated, StatusChanged
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Handler, on
from tintype.graph import FollowChanged, Graph, Seen, Sight
from tintype.search.filing import QUERIES, Filer, Subject, Wanted
from tintype.search.looking import Candidate, Lookup, entries_of
from tintype.search.models import PersonFound
from tintype.search.words import squash, weigh, words_of

KIND = "people"
MOST_FOLLOWEES = 2_000
"""Of these one finds even the least popular; the rest of somebody's followees rank by popularity like others."""
MOST_MUTUALS = 200
"""Of these we count how many follow a candidate."""


class People:
    """Accounts in the index."""

    def __init__(self, shards: Shards, sight: Sight, graph: Graph) -> None:
        self._shards, self._sight, self._graph = shards, sight, graph
        self._filer, self._lookup = Filer(shards), Lookup(shards)

    async def find(self, text: str, *, viewer: AccountId | None, limit: int) -> list[PersonFound]:
        """People the viewer may know of: those they follow first, then friends of friends, then the popular."""
        followees = (await self._graph.list_followees(viewer))[:MOST_FOLLOWEES] if viewer else []
        candidates = await self._lookup.find(
            KIND, text, enough=limit, among=[str(each) for each in followees]
        )
        by_id = {AccountId(int(each.subject)): each for each in candidates}
        seen = await self._sight.of(viewer, by_id)
        mutuals = await self._count_mutuals(seen, followees[-MOST_MUTUALS:])
        found = [PersonFound(one, mutuals.get(each, 0)) for each, one in seen.items()]
        found.sort(key=lambda one: _rank(one, by_id[one.seen.account.id]), reverse=True)
        return found[:limit]

    async def file(self, account_id: AccountId) -> None:
        """The index says about this account what is true now; safe to repeat and to reorder."""
        if not has_shard(self._shards, account_id):
            return
        home = self._shards.owner(account_id)

        async def read() -> Wanted:
            row = await home.fetch_one(QUERIES.read_person, account_id=account_id)
            if row is None:
                return {}
            terms = [squash(row["username"]), *words_of(row["username"]), *words_of(row["full_name"])]
            return entries_of(KIND, filter(None, terms), weigh(row["follower_count"]))

        await self._filer.refile(_subject(self._shards, account_id), read)

    async def weigh(self, account_id: AccountId) -> None:
        """File somebody anew whose popularity has moved a step."""
        if not has_shard(self._shards, account_id):
            return
        home = self._shards.owner(account_id)
        row = await home.fetch_one(QUERIES.read_person, account_id=account_id)
        filed = await home.fetch_one(QUERIES.find_filing, kind=KIND, subject=str(account_id))
        if row is not None and (filed is None or filed["weight"] != weigh(row["follower_count"])):
            await self.file(account_id)

    async def withdraw(self, account_id: AccountId) -> None:
        """Nobody finds this account any more."""
        await self._filer.withdraw(_subject(self._shards, account_id))

    def handlers(self) -> list[Handler]:
        """The index follows what happens to accounts."""

        async def on_created(event: AccountCreated) -> None:
            await self.file(event.account_id)

        async def on_changed(event: AccountChanged) -> None:
            await self.file(event.account_id)

        async def on_status(event: StatusChanged) -> None:
            await self.file(event.account_id)

        async def on_follow(event: FollowChanged) -> None:
            await self.weigh(event.followee_id)

        return [
            on(AccountCreated, on_created, name="search-account-created"),
            on(AccountChanged, on_changed, name="search-account-changed"),
            on(StatusChanged, on_status, name="search-account-status"),
            on(FollowChanged, on_follow, name="search-account-followed"),
        ]

    async def _count_mutuals(
        self, ids: Collection[AccountId], followees: list[AccountId]
    ) -> dict[AccountId, int]:
        if not ids or not followees:
            return {}
        gathered = await self._shards.gather(QUERIES.gather_mutuals, list(ids), followers=followees)
        # A server that is away costs the order a little, not the answer.
        return {AccountId(row["account_id"]): row["mutuals"] for row in gathered}


def _subject(shards: Shards, account_id: AccountId) -> Subject:
    return Subject(shards.owner(account_id), KIND, str(account_id), owner_id=account_id)


def _rank(found: PersonFound, candidate: Candidate) -> float:
    """A match by a typing error never comes before a right one; among equals people one knows come first."""
    seen: Seen = found.seen
    return (
        8 * candidate.match
        + 12 * seen.relation.follows
        + 3 * seen.relation.follows_viewer
        + (min(7.0, 3 + math.log2(1 + found.mutual_count)) if found.mutual_count else 0)
        + seen.account.is_verified
        + min(6.0, math.log10(1 + seen.account.follower_count))
    )
