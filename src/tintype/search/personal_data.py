"""Export and erasure of a person's recent searches, and of the index entries of their account and posts."""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId, PostId
from tintype.base.personal_data import ExportRecord
from tintype.search.dependencies import SearchDependencies
from tintype.search.people import KIND as PERSON
from tintype.search.people import People
from tintype.search.recent_searches import RecentSearches
from tintype.search.store import QUERIES
from tintype.search.topics import Topics

ERASE_BATCH = 100


class PersonalData:
    """One person's recent searches and index entries."""

    def __init__(
        self, deps: SearchDependencies, people: People, topics: Topics, recent: RecentSearches
    ) -> None:
        self._shards, self._people, self._topics, self._recent = deps.shards, people, topics, recent

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Recent searches; everything else in the index is exported by the rooms it comes from."""
        for each in reversed(await self._recent.list_latest(account_id)):
            yield ExportRecord("recent_searches.json", {"kind": each.kind, "subject": each.subject})

    async def erase(self, account_id: AccountId) -> int:
        """Delete the recent searches, and remove a batch of the account and its posts from the index."""
        erased = await self._recent.clear(account_id)
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_indexed_of, owner_id=account_id, limit=ERASE_BATCH
        )
        for row in rows:
            if row["kind"] == PERSON:
                await self._people.remove(account_id)
            else:
                await self._topics.remove(PostId(int(row["subject"])), account_id)
        return erased + len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many recent searches and indexed subjects of this person are left."""
        indexed: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_indexed_of, owner_id=account_id
        )
        return indexed + await self._recent.count(account_id)
