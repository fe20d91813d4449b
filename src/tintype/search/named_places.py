"""Places as a person named them, on the person's own shard: theirs alone to find until a public post names them.

The latest of them are offered when the person searches or names a place again, together with the public ones.
"""

from tintype.base.ids import AccountId
from tintype.search.dependencies import SearchDependencies
from tintype.search.index_reader import match_words
from tintype.search.models import NamedPlace
from tintype.search.normalize import typed_words, words_of
from tintype.search.store import QUERIES

MAX_KEPT = 200


class NamedPlaces:
    """The places that each account has named, the latest first."""

    def __init__(self, deps: SearchDependencies) -> None:
        self._shards = deps.shards

    async def add(self, account_id: AccountId, place: NamedPlace) -> None:
        """Keep a place for the account that named it; the oldest of too many is forgotten."""
        async with self._shards.owner(account_id).begin() as tx:
            await tx.execute(
                QUERIES.add_named_place,
                account_id=account_id,
                place_id=place.id,
                name=place.name,
                latitude=place.latitude,
                longitude=place.longitude,
            )
            await tx.execute(QUERIES.trim_named_places, account_id=account_id, kept=MAX_KEPT)

    async def list_latest(self, account_id: AccountId | None) -> list[NamedPlace]:
        """The places that an account has named; none for a guest."""
        if account_id is None:
            return []
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_named_places, account_id=account_id)
        return [NamedPlace(**row) for row in rows]

    async def find(self, account_id: AccountId, text: str) -> list[NamedPlace]:
        """Those of them that have a word for each that was typed, the best matches first."""
        typed = typed_words(text)
        found = [
            (match_words(typed, words_of(each.name)), each) for each in await self.list_latest(account_id)
        ]
        ranked = sorted(((match, each) for match, each in found if match), key=lambda one: -one[0])
        return [each for _, each in ranked]

    async def clear(self, account_id: AccountId) -> int:
        """Forget all of them; returns how many there were."""
        return await self._shards.owner(account_id).execute(QUERIES.clear_named_places, account_id=account_id)

    async def count(self, account_id: AccountId) -> int:
        """How many places of an account are stored."""
        return await self._shards.owner(account_id).fetch_value(
            QUERIES.count_named_places, account_id=account_id
        )
