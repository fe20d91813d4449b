"""Finding people: by the beginning of their name, by any word of it, and in spite of typos."""

import math
from collections.abc import Collection, Iterable

import asyncpg

from shardwright.routing import Shards
from tintype.accounts import AccountChanged, AccountCreated, StatusChanged
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Handler, on
from tintype.graph import FollowChanged, visibility_rules
from tintype.search.dependencies import SearchDependencies
from tintype.search.index_reader import Candidate, IndexReader
from tintype.search.index_writer import (
    WEIGHT_PER_DOUBLING,
    EntriesByKey,
    IndexedSubject,
    IndexWriter,
    entries_of,
    popularity_weight,
)
from tintype.search.models import PersonFound
from tintype.search.normalize import squash, words_of
from tintype.search.store import QUERIES

KIND = "people"
MAX_FOLLOWEES = 2_000
"""Of these even the least popular are found; the rest of somebody's followees rank by popularity like others."""
LEAST_WEIGHT = popularity_weight(8)
"""Below this an account is not indexed again for its followers."""
MAX_MUTUALS = 200
"""Of these followees we count how many follow a candidate."""


class People:
    """Accounts in the search index."""

    def __init__(self, deps: SearchDependencies) -> None:
        self._shards, self._visibility, self._graph = deps.shards, deps.visibility, deps.graph
        self._writer = IndexWriter(deps.shards)
        self._reader = IndexReader(deps.shards, are_candidates_checked=True)

    async def find(self, text: str, *, viewer: AccountId | None, limit: int) -> list[PersonFound]:
        """People the viewer may see: those they follow first, then friends of friends, then the popular."""
        followees = (await self._graph.list_followees(viewer))[:MAX_FOLLOWEES] if viewer else []
        candidates = await self._reader.find(
            KIND, text, enough=limit, among=[str(each) for each in followees]
        )
        by_id = {AccountId(int(each.subject)): each for each in candidates}
        visible = await self._visibility.find_accounts(viewer, by_id, with_counts=True)
        mutuals = await self._count_mutuals(visible, followees[-MAX_MUTUALS:])
        found = [PersonFound(one, mutuals.get(each, 0)) for each, one in visible.items()]
        found.sort(key=lambda one: _rank(one, by_id[one.person.account.id]), reverse=True)
        return found[:limit]

    async def index(self, account_id: AccountId) -> None:
        """Bring the index in line with the account as it is now; safe to repeat and to reorder."""
        if not has_shard(self._shards, account_id):
            return
        home = self._shards.owner(account_id)

        async def read() -> EntriesByKey:
            row = await home.fetch_one(QUERIES.read_person, account_id=account_id)
            if row is None or not _is_searchable(row):
                return {}
            terms = [squash(row["username"]), *words_of(row["username"]), *words_of(row["full_name"])]
            return entries_of(KIND, filter(None, terms), popularity_weight(row["follower_count"]))

        await self._writer.reindex(_subject(self._shards, account_id), read)

    async def index_if_weight_changed(self, ids: Iterable[AccountId]) -> None:
        """Index those of the accounts again that have twice as many followers as indexed, or half; one read per server.

        The weight only chooses the candidates, which are then ranked by their follower counts of the moment; and
        an account stands under a dozen keys on as many shards. Among those with a handful of followers it decides
        nothing: where so many match that candidates are chosen, others come first.
        """
        gathered = await self._shards.gather(QUERIES.gather_weights, list(set(ids)), kind=KIND)
        for row in gathered.complete():
            weight, indexed = popularity_weight(row["follower_count"]), row["indexed_weight"]
            is_outdated = indexed is None or (
                abs(weight - indexed) >= WEIGHT_PER_DOUBLING and max(weight, indexed) >= LEAST_WEIGHT
            )
            if is_outdated and _is_searchable(row):
                await self.index(AccountId(row["id"]))

    async def remove(self, account_id: AccountId) -> None:
        """Remove an account from the index."""
        await self._writer.remove(_subject(self._shards, account_id))

    def handlers(self) -> list[Handler]:
        """Keep the index in line with accounts and their follower counts."""
        return [
            on(AccountCreated, self._on_account, name="search-account-created"),
            on(AccountChanged, self._on_account, name="search-account-changed"),
            on(StatusChanged, self._on_account, name="search-account-status"),
            on(FollowChanged, self._on_follow, name="search-account-followed", many=True),
        ]

    async def _on_account(self, event: AccountCreated | AccountChanged | StatusChanged) -> None:
        await self.index(event.account_id)

    async def _on_follow(self, events: list[FollowChanged]) -> None:
        await self.index_if_weight_changed(each.followee_id for each in events)

    async def _count_mutuals(
        self, ids: Collection[AccountId], followees: list[AccountId]
    ) -> dict[AccountId, int]:
        """How many of the viewer's followees follow each candidate; an unavailable server only costs some order."""
        if not ids or not followees:
            return {}
        gathered = await self._shards.gather(QUERIES.gather_mutuals, list(ids), followers=followees)
        return {AccountId(row["account_id"]): row["mutuals"] for row in gathered}


def _subject(shards: Shards, account_id: AccountId) -> IndexedSubject:
    return IndexedSubject(shards.owner(account_id), KIND, str(account_id), owner_id=account_id)


def _rank(found: PersonFound, candidate: Candidate) -> float:
    """A misspelled match never comes before an exact one; among equals, people the viewer knows come first."""
    relation, account = found.person.relation, found.person.account
    return (
        8 * candidate.match
        + 12 * relation.follows
        + 3 * relation.follows_viewer
        + (min(7.0, 3 + math.log2(1 + found.mutual_count)) if found.mutual_count else 0)
        + account.is_verified
        + min(6.0, math.log10(1 + account.follower_count))
    )


def _is_searchable(row: asyncpg.Record) -> bool:
    """Whether a stranger may see the account at all; for each viewer, results are checked again."""
    return visibility_rules.may_see_account(is_self=False, is_active=row["is_active"], has_block=False)
