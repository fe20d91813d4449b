"""Named collections: making, naming, ordering and filling them."""

import unicodedata
from collections.abc import Sequence

from shardwright.running import Shards, Transaction
from tintype.base.ids import AccountId, PostId
from tintype.saves.errors import (
    CollectionNameInvalid,
    CollectionNameTaken,
    CollectionNotFound,
    TooManyCollections,
)
from tintype.saves.models import LONGEST_NAME, MOST_COLLECTIONS, Collection, CollectionId
from tintype.saves.store import QUERIES


class Collections:
    """One person's collections, all on that person's shard."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def list_of(self, owner: AccountId) -> list[Collection]:
        """In the order their owner gave them."""
        rows = await self._shards.owner(owner).fetch(QUERIES.list_collections, account_id=owner)
        return [
            Collection(
                row["id"], row["name"], row["post_count"], row["cover_post_id"] or row["newest_post_id"]
            )
            for row in rows
        ]

    async def create(self, owner: AccountId, name: str) -> CollectionId:
        """Make an empty collection."""
        name, key = _checked(name)
        async with self._shards.owner(owner).begin() as tx:
            await tx.fetch_one(QUERIES.lock_collections, account_id=owner)
            if await tx.fetch_value(QUERIES.count_collections, account_id=owner) >= MOST_COLLECTIONS:
                raise TooManyCollections
            made = await tx.fetch_value(QUERIES.add_collection, account_id=owner, name=name, name_key=key)
            if made is None:
                raise CollectionNameTaken
        return CollectionId(made)

    async def change(
        self, owner: AccountId, collection_id: CollectionId, *, name: str | None, cover: PostId | None
    ) -> None:
        """Rename a collection, or choose which of its posts stands for it."""
        async with self._shards.owner(owner).begin() as tx:
            await tx.fetch_one(QUERIES.lock_collections, account_id=owner)
            await _get(tx, owner, collection_id)
            if name is not None:
                await _rename(tx, owner, collection_id, name)
            if cover is not None:
                held = await tx.fetch_one(QUERIES.is_in, collection_id=collection_id, post_id=cover)
                if held is None:
                    raise CollectionNotFound("That post is not in the collection.")
                await tx.execute(QUERIES.set_cover, collection_id=collection_id, post_id=cover)

    async def delete(self, owner: AccountId, collection_id: CollectionId) -> None:
        """The collection goes, its posts stay saved."""
        row = await self._shards.owner(owner).fetch_one(
            QUERIES.delete_collection, collection_id=collection_id, account_id=owner
        )
        if row is None:
            raise CollectionNotFound

    async def order(self, owner: AccountId, ids: Sequence[CollectionId]) -> None:
        """Put collections in this order."""
        await self._shards.owner(owner).execute(QUERIES.order_collections, account_id=owner, ids=list(ids))

    async def check_own(self, owner: AccountId, ids: Sequence[CollectionId]) -> None:
        """Refuse where one of them is not this person's."""
        rows = await self._shards.owner(owner).fetch(
            QUERIES.which_own, account_id=owner, collection_ids=list(ids)
        )
        if {row["id"] for row in rows} != set(ids):
            raise CollectionNotFound


async def _get(tx: Transaction, owner: AccountId, collection_id: CollectionId) -> None:
    if await tx.fetch_one(QUERIES.find_collection, collection_id=collection_id, account_id=owner) is None:
        raise CollectionNotFound


async def _rename(tx: Transaction, owner: AccountId, collection_id: CollectionId, name: str) -> None:
    name, key = _checked(name)
    taken = await tx.fetch_one(
        QUERIES.is_name_taken, account_id=owner, name_key=key, collection_id=collection_id
    )
    if taken is not None:
        raise CollectionNameTaken
    await tx.execute(QUERIES.rename_collection, collection_id=collection_id, name=name, name_key=key)


def _checked(name: str) -> tuple[str, str]:
    plain = " ".join(name.split())
    if not 1 <= len(plain) <= LONGEST_NAME:
        raise CollectionNameInvalid
    return plain, unicodedata.normalize("NFKC", plain).casefold()
