"""The facade of the saves room."""

from collections.abc import Iterable, Sequence

import asyncpg

from shardwright.routing import Query
from tintype.base.ids import AccountId, PostId
from tintype.base.pages import Page, fill_page
from tintype.base.personal_data import PersonalDataHolder
from tintype.posts import Post
from tintype.redis.viewer_invalidation import PostChange
from tintype.saves.collections import Collections
from tintype.saves.dependencies import SavesDependencies
from tintype.saves.events import PostSaved
from tintype.saves.models import Collection, CollectionId
from tintype.saves.personal_data import SavesPersonalData
from tintype.saves.store import QUERIES


class Saves:
    """Saved posts and collections, on the shard of the person who saved them; nobody else can see them."""

    def __init__(self, dependencies: SavesDependencies) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._posts, self._viewer_invalidation = dependencies.posts, dependencies.viewer_invalidation
        self._collections = Collections(dependencies)
        self.personal_data: PersonalDataHolder = SavesPersonalData(dependencies)

    async def save(self, post_id: PostId, by: AccountId, into: Sequence[CollectionId] = ()) -> None:
        """Save a post that is visible to this account, and put it into these collections."""
        await self._posts.check_visible(post_id, viewer=by)
        if into:
            await self._collections.check_own(by, into)
        await self._change(QUERIES.save_post, post_id, by, is_saved=True, collection_ids=list(into))

    async def unsave(self, post_id: PostId, by: AccountId) -> None:
        """Unsave a post and remove it from every collection, even if it is no longer visible to this account."""
        await self._change(QUERIES.unsave_post, post_id, by, is_saved=False)

    async def _change(
        self, query: Query, post_id: PostId, by: AccountId, *, is_saved: bool, **params: object
    ) -> None:
        shard = self._shards.owner(by)
        change_id = await shard.fetch_value(
            query,
            account_id=by,
            post_id=post_id,
            **params,
            **self._outbox.prepare(PostSaved, post_id=post_id, account_id=by, is_saved=is_saved),
        )
        if change_id is not None:
            await self._outbox.wake(shard)
        await self._viewer_invalidation.announce([(by, PostChange(post_id))])

    async def remove_from_collection(
        self, post_id: PostId, by: AccountId, collection_id: CollectionId
    ) -> None:
        """Remove a post from one collection; it stays saved."""
        await self._collections.check_own(by, [collection_id])
        await self._shards.owner(by).execute(
            QUERIES.remove_from_collection, account_id=by, post_id=post_id, collection_id=collection_id
        )

    async def which_saved(self, by: AccountId, post_ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that an account has saved."""
        wanted = list(set(post_ids))
        if not wanted:
            return set()
        rows = await self._shards.owner(by).fetch(QUERIES.which_saved, account_id=by, post_ids=wanted)
        return {PostId(row["post_id"]) for row in rows}

    async def page(
        self, by: AccountId, *, collection_id: CollectionId | None, before: int, limit: int
    ) -> Page[Post]:
        """Saved posts that this account may still see, the latest save first: all, or those of one collection."""
        if collection_id is not None:
            await self._collections.check_own(by, [collection_id])

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._fetch_page(by, collection_id, before, limit)
            return [(PostId(row["post_id"]), row["cursor"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self._posts.find_many(ids, viewer=by)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def list_collections(self, owner: AccountId) -> list[Collection]:
        """A person's collections, in the order their owner chose."""
        return await self._collections.list_of(owner)

    async def create_collection(self, owner: AccountId, name: str) -> CollectionId:
        """Create an empty collection."""
        return await self._collections.create(owner, name)

    async def change_collection(
        self, owner: AccountId, collection_id: CollectionId, *, name: str | None, cover: PostId | None
    ) -> None:
        """Rename a collection, or choose one of its posts as its cover."""
        await self._collections.change(owner, collection_id, name=name, cover=cover)

    async def delete_collection(self, owner: AccountId, collection_id: CollectionId) -> None:
        """Delete a collection; its posts stay saved."""
        await self._collections.delete(owner, collection_id)

    async def order_collections(self, owner: AccountId, ids: Sequence[CollectionId]) -> None:
        """Put collections in this order."""
        await self._collections.order(owner, ids)

    async def _fetch_page(
        self, by: AccountId, collection_id: CollectionId | None, before: int, limit: int
    ) -> list[asyncpg.Record]:
        home = self._shards.owner(by)
        if collection_id is None:
            return await home.fetch(QUERIES.page_saves, account_id=by, before=before, limit=limit)
        return await home.fetch(
            QUERIES.page_collection, collection_id=collection_id, before=before, limit=limit
        )
