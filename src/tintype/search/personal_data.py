"""Export and erasure of a person's recent searches and named places, and of what is indexed of their account."""

from collections.abc import AsyncIterator

import msgspec

from tintype.base.ids import AccountId, PostId
from tintype.base.personal_data import ExportRecord
from tintype.search.dependencies import SearchDependencies
from tintype.search.named_places import NamedPlaces
from tintype.search.people import KIND as PERSON
from tintype.search.people import People
from tintype.search.recent_searches import RecentSearches
from tintype.search.store import QUERIES
from tintype.search.topics import Topics

ERASE_BATCH = 100


class SearchPersonalData:
    """One person's recent searches, named places and index entries."""

    def __init__(
        self,
        deps: SearchDependencies,
        *,
        people: People,
        topics: Topics,
        recent: RecentSearches,
        named_places: NamedPlaces,
    ) -> None:
        self._shards, self._people, self._topics = deps.shards, people, topics
        self._recent, self._named_places = recent, named_places

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Recent searches and named places; everything else in the index is exported by the rooms it comes from."""
        for each in reversed(await self._recent.list_latest(account_id)):
            yield ExportRecord("recent_searches.json", {"kind": each.kind, "subject": each.subject})
        for place in reversed(await self._named_places.list_latest(account_id)):
            yield ExportRecord("places.json", msgspec.to_builtins(place))

    async def erase(self, account_id: AccountId) -> int:
        """Delete recent searches and named places, and remove a batch of the account and its posts from the index."""
        erased = await self._recent.clear(account_id) + await self._named_places.clear(account_id)
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
        """How many recent searches, named places and indexed subjects of this person are left."""
        indexed: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_indexed_of, owner_id=account_id
        )
        kept = await self._recent.count(account_id) + await self._named_places.count(account_id)
        return indexed + kept
