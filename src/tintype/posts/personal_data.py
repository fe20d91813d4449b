"""Export and erasure of what the posts room stores about a person: posts, scheduled posts, likes and tags."""

import contextlib
from collections.abc import AsyncIterator

import msgspec

from tintype.base.ids import AccountId, PostId, ScheduledPostId
from tintype.base.personal_data import ExportRecord
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import PostNotFound
from tintype.posts.lifecycle import PostLifecycle
from tintype.posts.like import PostLikes
from tintype.posts.models import Post
from tintype.posts.post_cache import PostCache
from tintype.posts.reader import PostReader
from tintype.posts.retention import PostRetention
from tintype.posts.schedule import ScheduledPosts
from tintype.posts.scheduled_post import ScheduledPost
from tintype.posts.store import QUERIES
from tintype.posts.tags import PersonTags

BATCH = 100
NEWEST = 2**63 - 1


class PostsPersonalData:
    """One person's posts, scheduled posts, likes and tags, wherever they lie."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        cache: PostCache,
        reader: PostReader,
        *,
        lifecycle: PostLifecycle,
        retention: PostRetention,
        likes: PostLikes,
        tags: PersonTags,
        scheduled: ScheduledPosts,
    ) -> None:
        self._shards, self._cache, self._reader = dependencies.shards, cache, reader
        self._lifecycle, self._retention, self._likes, self._tags = lifecycle, retention, likes, tags
        self._scheduled = scheduled

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Posts with their photos, scheduled ones, the posts the person likes, then those they are tagged in."""
        after = 0
        shard = self._shards.owner(account_id)
        while rows := await shard.fetch(QUERIES.page_of_all, author_id=account_id, after=after, limit=BATCH):
            ids = [PostId(row["id"]) for row in rows]
            after = ids[-1]
            found = await self._reader.find_unfiltered(ids)
            for post in (found[each] for each in ids if each in found):
                for record in self._records(post):
                    yield record
        for scheduled in await self._scheduled.list_of(account_id):
            yield ExportRecord("scheduled_posts.json", _scheduled_content(scheduled))
        async for record in self._export_likes(account_id):
            yield record
        async for record in self._export_tagged(account_id):
            yield record

    async def erase(self, account_id: AccountId) -> int:
        """Erase a batch of posts, likes and tags; returns how many. Call it until nothing is left."""
        return (
            await self._erase_posts(account_id)
            + await self._erase_scheduled(account_id)
            + await self._erase_likes(account_id)
            + await self._erase_tagged(account_id)
        )

    async def count_left(self, account_id: AccountId) -> int:
        """How many posts, likes and tags of a person are still stored."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)

    async def _erase_posts(self, account_id: AccountId) -> int:
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_erasable, author_id=account_id, limit=BATCH
        )
        for row in rows:
            post_id = PostId(row["id"])
            if post_id in await self._reader.find_unfiltered([post_id]):
                await self._lifecycle.remove(post_id, account_id)
            await self._retention.purge(post_id)
            await self._cache.invalidate(post_id)
        return len(rows)

    async def _erase_scheduled(self, account_id: AccountId) -> int:
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_erasable_scheduled, author_id=account_id, limit=BATCH
        )
        for row in rows:
            await self._scheduled.delete(ScheduledPostId(row["id"]))
        return len(rows)

    async def _erase_likes(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.list_own_likes, account_id=account_id, limit=BATCH)
        posts = [PostId(row["post_id"]) for row in rows]
        for post_id in posts:
            await self._unlike(post_id, account_id)
        await home.execute(QUERIES.erase_own_likes, account_id=account_id, post_ids=posts)
        return len(posts)

    async def _unlike(self, post_id: PostId, account_id: AccountId) -> None:
        with contextlib.suppress(PostNotFound):  # purged, with all of its likes
            await self._likes.change(post_id, account_id, is_liked=False, is_erased=True)

    async def _erase_tagged(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.list_tagged_in, account_id=account_id, limit=BATCH)
        posts = [PostId(row["post_id"]) for row in rows]
        for post_id in posts:
            await self._tags.remove(post_id, account_id)
        await home.execute(QUERIES.erase_tagged_in, account_id=account_id, post_ids=posts)
        return len(posts)

    def _records(self, post: Post) -> list[ExportRecord]:
        content = _content(post) | {"created_at": post.own_time(self._shards.map.layout).isoformat()}
        photos = [
            ExportRecord(
                "media.json",
                {"post_id": str(post.id), "media_id": str(item.media_id), "alt_text": item.alt_text},
                item.folder,
            )
            for item in post.media
        ]
        return [ExportRecord("posts.json", content), *photos]

    async def _export_likes(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        before = NEWEST
        while rows := await self._shards.owner(account_id).fetch(
            QUERIES.page_own_likes, account_id=account_id, before=before, limit=BATCH
        ):
            for row in rows:
                liked_at = self._shards.map.layout.id_time(row["change_id"]).isoformat()
                yield ExportRecord("likes.json", {"post_id": str(row["post_id"]), "liked_at": liked_at})
            before = rows[-1]["change_id"]

    async def _export_tagged(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        before = NEWEST
        while rows := await self._shards.owner(account_id).fetch(
            QUERIES.page_tagged_in, account_id=account_id, before=before, limit=BATCH
        ):
            for row in rows:
                yield ExportRecord("tagged_in.json", {"post_id": str(row["post_id"])})
            before = rows[-1]["post_id"]


def _scheduled_content(scheduled: ScheduledPost) -> dict[str, object]:
    """A scheduled post as its author's export lists it; its photos are among those that are not posted."""
    draft = scheduled.draft
    return {
        "publish_at": scheduled.publish_at.isoformat(),
        "caption": draft.caption,
        "place": msgspec.to_builtins(draft.place),
        "media_ids": [str(item.media_id) for item in draft.media],
        "alt_texts": [item.alt_text for item in draft.media],
        "tagged_ids": [str(each) for each in draft.tagged_ids],
    }


def _content(post: Post) -> dict[str, object]:
    """A post as its author's export lists it."""
    return {
        "post_id": str(post.id),
        "caption": post.caption,
        "hashtags": list(post.hashtags),
        "place": msgspec.to_builtins(post.place),
        "media_ids": [str(item.media_id) for item in post.media],
        "tagged_ids": [str(each) for each in post.tagged_ids],
        "edited_at": post.edited_at.isoformat() if post.edited_at else None,
        "is_archived": post.is_archived,
        "like_count": post.like_count,
        "comment_count": post.comment_count,
    }
