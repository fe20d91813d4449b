"""Named collections of saved posts."""

import unicodedata
from collections.abc import Sequence

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, PostId
from tintype.base.text import clean_line
from tintype.saves.dependencies import SavesDependencies
from tintype.saves.errors import (
    CollectionNameInvalid,
    CollectionNameTaken,
    CollectionNotFound,
    TooManyCollections,
)
from tintype.saves.models import MAX_COLLECTIONS, MAX_NAME_LENGTH, Collection, CollectionId
from tintype.saves.store import QUERIES


class Collections:
    """Each person's collections, on that person's shard."""

    def __init__(self, dependencies: SavesDependencies) -> None:
        self._shards, self._accounts = dependencies.shards, dependencies.accounts

    async def list_of(self, owner: AccountId) -> list[Collection]:
        """A person's collections, in the order their owner chose."""
        rows = await self._shards.owner(owner).fetch(QUERIES.list_collections, account_id=owner)
        return [
            Collection(
                row["id"], row["name"], row["post_count"], row["cover_post_id"] or row["newest_post_id"]
            )
            for row in rows
        ]

    async def create(self, owner: AccountId, name: str) -> CollectionId:
        """Create an empty collection."""
        name, key = _check_name(name)
        async with self._shards.owner(owner).begin() as tx:
            await self._accounts.lock(tx, owner)  # names stay unique, and their number within its limit
            if await tx.fetch_value(QUERIES.count_collections, account_id=owner) >= MAX_COLLECTIONS:
                raise TooManyCollections
            created = await tx.fetch_value(QUERIES.add_collection, account_id=owner, name=name, name_key=key)
            if created is None:
                raise CollectionNameTaken
        return CollectionId(created)

    async def change(
        self, owner: AccountId, collection_id: CollectionId, *, name: str | None, cover: PostId | None
    ) -> None:
        """Rename a collection, or choose one of its posts as its cover."""
        async with self._shards.owner(owner).begin() as tx:
            await self._accounts.lock(tx, owner)
            await _check_exists(tx, owner, collection_id)
            if name is not None:
                await _rename(tx, owner, collection_id, name)
            if cover is not None:
                found = await tx.fetch_one(
                    QUERIES.find_in_collection, collection_id=collection_id, post_id=cover
                )
                if found is None:
                    raise CollectionNotFound("That post is not in the collection.")
                await tx.execute(QUERIES.set_cover, collection_id=collection_id, post_id=cover)

    async def delete(self, owner: AccountId, collection_id: CollectionId) -> None:
        """Delete a collection; its posts stay saved."""
        row = await self._shards.owner(owner).fetch_one(
            QUERIES.delete_collection, collection_id=collection_id, account_id=owner
        )
        if row is None:
            raise CollectionNotFound

    async def order(self, owner: AccountId, ids: Sequence[CollectionId]) -> None:
        """Put collections in this order."""
        await self._shards.owner(owner).execute(QUERIES.order_collections, account_id=owner, ids=list(ids))

    async def check_own(self, owner: AccountId, ids: Sequence[CollectionId]) -> None:
        """Refuse unless all of the collections are this person's."""
        rows = await self._shards.owner(owner).fetch(
            QUERIES.which_own, account_id=owner, collection_ids=list(ids)
        )
        if {row["id"] for row in rows} != set(ids):
            raise CollectionNotFound


async def _check_exists(tx: Transaction, owner: AccountId, collection_id: CollectionId) -> None:
    if await tx.fetch_one(QUERIES.find_collection, collection_id=collection_id, account_id=owner) is None:
        raise CollectionNotFound


async def _rename(tx: Transaction, owner: AccountId, collection_id: CollectionId, name: str) -> None:
    name, key = _check_name(name)
    taken = await tx.fetch_one(
        QUERIES.find_by_name, account_id=owner, name_key=key, collection_id=collection_id
    )
    if taken is not None:
        raise CollectionNameTaken
    await tx.execute(QUERIES.rename_collection, collection_id=collection_id, name=name, name_key=key)


def _check_name(name: str) -> tuple[str, str]:
    """A cleaned name, and the key by which names are unique, whatever their case."""
    cleaned = clean_line(name)
    if not 1 <= len(cleaned) <= MAX_NAME_LENGTH:
        raise CollectionNameInvalid
    return cleaned, unicodedata.normalize("NFKC", cleaned).casefold()
