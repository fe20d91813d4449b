"""Reactions of the posts room to its own events: they finish what a process that died after its commit left undone.

Every handler is idempotent, and events may arrive in any order.
"""

from tintype.base.ids import PostId
from tintype.posts.events import PostEdited, PostImported, PostLiked, PostPublished, PostRemoved
from tintype.posts.like_index import LikeIndex
from tintype.posts.post_cache import PostCache
from tintype.posts.tags import PersonTags, TagChanges


class PostsEventHandlers:
    """Keeps the indexes of tags and likes, and the cache, in line with what was committed."""

    def __init__(self, cache: PostCache, tags: PersonTags, like_index: LikeIndex) -> None:
        self._cache, self._tags, self._like_index = cache, tags, like_index

    async def handle_published(self, events: list[PostPublished]) -> None:
        """Index the tags of new posts, which few have; drop those that are shown again from the cache."""
        for event in events:
            if not event.is_new:
                await self._cache.invalidate(event.post_id)
            elif event.tagged_ids:
                await self._tags.index(event.post_id, event.post_id, TagChanges(added=event.tagged_ids))

    async def handle_imported(self, event: PostImported) -> None:
        """Drop an imported post that is shown again from the cache."""
        if not event.is_new:
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

    async def handle_liked(self, events: list[PostLiked]) -> None:
        """Index likes that are not indexed yet, and drop cached counts that do not include them."""
        await self._like_index.repair(events)
        changes: dict[PostId, int] = {}
        for each in events:
            changes[each.post_id] = max(changes.get(each.post_id, 0), each.change_id)
        await self._cache.drop_older_counts(changes)
