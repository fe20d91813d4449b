"""Keeping posts for oneself, and finding them again."""

from collections.abc import AsyncIterator, Iterable, Sequence

import asyncpg

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, PostId
from tintype.base.outbox import Outbox
from tintype.base.ties import Ties
from tintype.posts import Page, Post, Posts, fill_page
from tintype.saves.collections import Collections
from tintype.saves.events import PostSaved
from tintype.saves.models import CollectionId
from tintype.saves.store import QUERIES

BATCH = 200

__all__ = ["QUERIES", "Saves"]


class Saves:
    """What one person keeps, on that person's shard; nobody else learns of it."""

    def __init__(self, shards: Shards, outbox: Outbox, posts: Posts, ties: Ties) -> None:
        self._shards, self._outbox, self._posts, self._ties = shards, outbox, posts, ties
        self.collections = Collections(shards)

    async def save(self, post_id: PostId, by: AccountId, into: Sequence[CollectionId] = ()) -> None:
        """Keep a post that one may see, in these collections too."""
        await self._posts.get(post_id, viewer=by)
        if into:
            await self.collections.check_own(by, into)
        async with self._shards.owner(by).begin() as tx:
            self._ties.change_with(tx, by)
            change_id = await tx.fetch_value(QUERIES.save_post, account_id=by, post_id=post_id)
            if change_id is not None:
                await self._outbox.add(tx, PostSaved(post_id, by, change_id, is_saved=True))
            if into:
                await tx.execute(QUERIES.put_into, account_id=by, post_id=post_id, collection_ids=list(into))

    async def unsave(self, post_id: PostId, by: AccountId) -> None:
        """Keep it no longer, in no collection either; it need not be visible any more."""
        async with self._shards.owner(by).begin() as tx:
            self._ties.change_with(tx, by)
            change_id = await tx.fetch_value(QUERIES.unsave_post, account_id=by, post_id=post_id)
            if change_id is not None:
                await self._outbox.add(tx, PostSaved(post_id, by, change_id, is_saved=False))

    async def take_out(self, post_id: PostId, by: AccountId, collection_id: CollectionId) -> None:
        """Out of one collection; it stays saved."""
        await self.collections.check_own(by, [collection_id])
        await self._shards.owner(by).execute(
            QUERIES.take_out, account_id=by, post_id=post_id, collection_id=collection_id
        )

    async def which_saved(self, by: AccountId, post_ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that somebody keeps."""
        wanted = list(set(post_ids))
        if not wanted:
            return set()
        rows = await self._shards.owner(by).fetch(QUERIES.which_saved, account_id=by, post_ids=wanted)
        return {PostId(row["post_id"]) for row in rows}

    async def page(
        self, by: AccountId, *, collection_id: CollectionId | None, before: int, limit: int
    ) -> Page[Post]:
        """Kept posts that can still be seen, the one kept last first."""
        if collection_id is not None:
            await self.collections.check_own(by, [collection_id])

        async def fetch(place: int, count: int) -> list[tuple[PostId, int]]:
            rows = await self._rows(by, collection_id, place, count)
            return [(PostId(row["post_id"]), row["place"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self._posts.find_many(ids, viewer=by)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Every saved post, with the names of the collections it is in."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(QUERIES.export_saves, account_id=account_id, after=after, limit=BATCH):
            after = rows[-1]["save_id"]
            for row in rows:
                yield Record(
                    "saves.json", {"post_id": str(row["post_id"]), "collections": list(row["collections"])}
                )

    async def erase(self, account_id: AccountId) -> int:
        """Everything: it is all on one shard."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.erase_saves, account_id=account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """Rows that are left."""
        return await self._shards.owner(account_id).fetch_value(
            QUERIES.count_saves_left, account_id=account_id
        )

    async def _rows(
        self, by: AccountId, collection_id: CollectionId | None, before: int, limit: int
    ) -> list[asyncpg.Record]:
        home = self._shards.owner(by)
        if collection_id is None:
            return await home.fetch(QUERIES.page_saves, account_id=by, before=before, limit=limit)
        return await home.fetch(
            QUERIES.page_collection, collection_id=collection_id, before=before, limit=limit
        )
