"""Posts that stories show as cards: judged for each viewer whenever a story is read, never when it was published.

A card is filled if the viewer may see the post and its author allows sharing; otherwise it stays neutral, and does not
tell why: deleted, archived, hidden, private, blocked or not allowed look alike.
"""

from collections.abc import Iterable, Sequence

from tintype.base.ids import AccountId, PostId, has_shard
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.errors import SharedPostNotFound
from tintype.stories.models import SharedPost


class SharedPosts:
    """Reads the posts that stories show."""

    def __init__(self, deps: StoriesDependencies) -> None:
        self._shards, self._posts, self._visibility = deps.shards, deps.posts, deps.visibility

    async def find(self, ids: Iterable[PostId], *, viewer: AccountId | None) -> dict[PostId, SharedPost]:
        """Those of the posts that the viewer may see and whose authors allow sharing."""
        wanted = {each for each in ids if has_shard(self._shards, each)}
        posts = await self._posts.find_many(wanted, viewer=viewer) if wanted else {}
        if not posts:
            return {}
        authors = await self._visibility.find_accounts(viewer, {post.author_id for post in posts.values()})
        return {
            post.id: SharedPost(post, authors[post.author_id].account)
            for post in posts.values()
            if post.author_id in authors and authors[post.author_id].account.allows_story_shares
        }

    async def check_shareable(self, ids: Sequence[PostId], *, by: AccountId) -> None:
        """Raise `SharedPostNotFound` unless this author may show all of the posts in a story."""
        if ids and set(ids) != (await self.find(ids, viewer=by)).keys():
            raise SharedPostNotFound
