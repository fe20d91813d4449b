"""Of the posts on a timeline, those that the reader may see and wants to, with everything an answer needs of them."""

from collections.abc import Sequence

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.graph import Graph, Sight
from tintype.posts import Post, Posts
from tintype.saves import Saves


class Entry(msgspec.Struct, frozen=True):
    """A post as the reader of a feed gets it."""

    post: Post
    author: Account
    has_saved: bool = False

    @property
    def id(self) -> PostId:
        """The post's id."""
        return self.post.id


class Visible:
    """Asks the rooms that know. Unfollowing, muting, blocking and removing show at once, whatever a timeline holds."""

    def __init__(self, posts: Posts, graph: Graph, sight: Sight, saves: Saves) -> None:
        self._posts, self._graph, self._sight, self._saves = posts, graph, sight, saves

    async def read(self, reader: AccountId, ids: Sequence[PostId]) -> list[Entry]:
        """Those of the posts that belong into this reader's feed now, in the order of `ids`."""
        posts = await self._posts.find_many(ids, viewer=reader)
        seen = await self._sight.content_of(reader, {post.author_id for post in posts.values()})
        saved = await self._saves.which_saved(reader, list(posts)) if posts else set[PostId]()
        return [
            Entry(post, seen[post.author_id].account, post.id in saved)
            for post_id in ids
            if (post := posts.get(post_id)) is not None
            and (one := seen.get(post.author_id)) is not None
            and (one.relation.is_self or (one.relation.follows and not one.relation.mutes_posts))
        ]
