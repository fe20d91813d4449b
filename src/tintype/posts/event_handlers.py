"""Reactions of the posts room to its own events: they finish what a process that died after its commit left undone.

Every handler is idempotent, and events may arrive in any order.
"""

from tintype.posts.dependencies import PostsDependencies
from tintype.posts.events import PostEdited, PostLiked, PostPublished, PostRemoved
from tintype.posts.like import PostLikes
from tintype.posts.post_cache import PostCache
from tintype.posts.tags import PersonTags, TagChanges


class PostsEventHandlers:
    """Keeps the indexes of tags and likes, and the cache, in line with what was committed."""

    def __init__(
        self, dependencies: PostsDependencies, cache: PostCache, tags: PersonTags, likes: PostLikes
    ) -> None:
        self._counters = dependencies.like_counters
        self._cache, self._tags, self._likes = cache, tags, likes

    async def handle_published(self, event: PostPublished) -> None:
        """Index the tags of a new post."""
        if event.is_new:
            await self._tags.index(event.post_id, event.post_id, TagChanges(added=event.tagged_ids))
        await self._cache.invalidate(event.post_id)

    async def handle_edited(self, event: PostEdited) -> None:
        """Index the tags that an edit has added and removed."""
        await self._tags.index(
            event.post_id, event.change_id, TagChanges(event.tagged_ids, event.untagged_ids)
        )
        await self._cache.invalidate(event.post_id)

    async def handle_removed(self, event: PostRemoved) -> None:
        """Remove the tags of a deleted post from the index."""
        if event.is_deleted:
            await self._tags.index(event.post_id, event.change_id, TagChanges(removed=event.tagged_ids))
        await self._cache.invalidate(event.post_id)

    async def handle_liked(self, event: PostLiked) -> None:
        """Index a like, and drop cached counts that do not include it."""
        await self._likes.index(event)
        is_older = await self._cache.are_counts_older(event.post_id, event.change_id)
        if is_older and event.post_id not in await self._counters.find_unsettled([event.post_id]):
            await self._cache.invalidate_counts(event.post_id)
