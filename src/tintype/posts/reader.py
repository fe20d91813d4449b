"""Reading posts as a viewer sees them: only what the viewer may see, with counts and the viewer's own like."""

import asyncio
from collections.abc import Container, Iterable, Sequence

import msgspec

from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.pages import Page, fill_page
from tintype.base.replica_reads import replica_reader
from tintype.graph import VisibleAccount, visibility_rules
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import NotYourPost, PostNotFound
from tintype.posts.models import ListedPost, Post, PostCounts
from tintype.posts.post_cache import PostCache
from tintype.posts.store import QUERIES, read_post

NO_COUNTS = PostCounts(0, 0, 0, 0)


class PostReader:
    """Posts one by one and in lists, for one viewer; a guest is None."""

    def __init__(self, dependencies: PostsDependencies, cache: PostCache) -> None:
        self._shards, self._visibility, self._cache = dependencies.shards, dependencies.visibility, cache

    async def get(self, post_id: PostId, *, viewer: AccountId | None) -> Post:
        """One post that the viewer may see, or `PostNotFound`."""
        found = await self.find_many([post_id], viewer=viewer, with_unshown=True)
        if post_id not in found:
            raise PostNotFound
        return found[post_id]

    async def get_new(self, post_id: PostId) -> Post:
        """A post that was published a moment ago, as its author sees it; counts and likes of its row are zero."""
        row = await self._shards.owner(post_id).fetch_one(QUERIES.gather_posts, ids=[post_id])
        if row is None:
            raise PostNotFound
        return read_post(row)

    async def get_author_id(self, post_id: PostId, *, viewer: AccountId | None) -> AccountId:
        """Who wrote a post that the viewer may see, or `PostNotFound`."""
        found = await self._find_visible([post_id], viewer)
        if post_id not in found:
            raise PostNotFound
        return found[post_id].author_id

    async def find_author_of_deleted(self, post_id: PostId) -> AccountId | None:
        """Whose post it was, of one that was shown until it was deleted and is not purged yet."""
        if not has_shard(self._shards, post_id):
            return None
        return await self._shards.owner(post_id).fetch_value(QUERIES.find_author_of_deleted, post_id=post_id)

    async def check_author(self, post_id: PostId, by: AccountId) -> None:
        """Refuse unless the post is this account's; a post it may not see answers as one that does not exist."""
        if (await self.get(post_id, viewer=by)).author_id != by:
            raise NotYourPost

    async def find_many(
        self, ids: Iterable[PostId], *, viewer: AccountId | None, with_unshown: bool = False
    ) -> dict[PostId, Post]:
        """Those of the posts that the viewer may see, with counts and whether the viewer likes them.

        The viewer's own posts that are archived or hidden by a moderator are left out unless `with_unshown`.
        """
        visible = await self._find_visible(ids, viewer)
        posts = {each: post for each, post in visible.items() if post.is_shown or with_unshown}
        if not posts:
            return {}
        counts, liked = await asyncio.gather(self._cache.find_counts(posts), self.which_liked(viewer, posts))
        return {
            each: _for_viewer(post, counts.get(each), viewer, is_liked=each in liked)
            for each, post in posts.items()
        }

    async def list_by_visible_author(
        self,
        author: VisibleAccount,
        viewer: AccountId | None,
        ids: Sequence[PostId],
        liked: Container[PostId],
    ) -> list[ListedPost]:
        """Those of one author's posts that are listed, in this order.

        The caller knows the author's content to be visible, and has read which of the posts the viewer likes.
        """
        posts = await self._cache.find_posts(ids)
        counts = await self._cache.find_counts(posts)
        is_author = viewer == author.account.id
        return [
            _listed(post, counts.get(each, NO_COUNTS), is_author=is_author, has_liked=each in liked)
            for each in ids
            if (post := posts.get(each)) is not None
            and visibility_rules.is_listed_post(
                sees_author=post.author_id == author.account.id, is_shown=post.is_shown
            )
        ]

    async def find_unfiltered(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        """Those of the posts that are not deleted, whoever may see them: for moderators and background work."""
        posts = await self._cache.find_posts(ids)
        counts = await self._cache.find_counts(posts)
        return {each: _with_counts(post, counts.get(each)) for each, post in posts.items()}

    async def which_liked(self, viewer: AccountId | None, ids: Iterable[PostId]) -> set[PostId]:
        """Those of the posts that the viewer likes, from one query on the viewer's shard."""
        wanted = list(ids)
        if viewer is None or not wanted:
            return set()
        rows = await self._shards.owner(viewer).fetch(QUERIES.which_liked, account_id=viewer, post_ids=wanted)
        return {PostId(row["post_id"]) for row in rows}

    async def page_of_author(self, author_id: AccountId, *, before: int, limit: int) -> list[PostId]:
        """Ids of an author's posts that others may see, newest first."""
        rows = await self._shards.owner(author_id).fetch(
            QUERIES.page_of_author, author_id=author_id, before=before, limit=limit
        )
        return [PostId(row["id"]) for row in rows]

    async def list_popular(self, *, days: int, limit_each: int) -> list[tuple[PostId, int]]:
        """The posts of the last days with the most reactions, with their number; at most so many from each shard.

        This reads every shard: it is for background work, not for a request.
        """
        found = await self._shards.everywhere().fetch(QUERIES.list_popular, days=days, limit=limit_each)
        return [(PostId(row["id"]), row["reactions"]) for row in found]

    async def page_archived(self, author: AccountId, *, before: int, limit: int) -> Page[Post]:
        """An author's archived posts, newest first; only the author may read them."""

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = await self._shards.owner(author).fetch(
                QUERIES.page_archived, author_id=author, before=before, limit=limit
            )
            return [(PostId(row["id"]), row["id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            return await self.find_many(ids, viewer=author, with_unshown=True)

        return await fill_page(fetch, show, before=before, limit=limit)

    async def page_tagged_in(
        self, account_id: AccountId, *, viewer: AccountId | None, before: int, limit: int
    ) -> Page[Post]:
        """The posts a person is tagged in, newest first, where the viewer may see both the person and the post."""
        account = await self._visibility.get_account(viewer, account_id)
        if not account.shows_content:
            return Page([], None)

        async def fetch(before: int, limit: int) -> list[tuple[PostId, int]]:
            rows = (
                await replica_reader(self._shards)
                .owner(account_id)
                .fetch(QUERIES.page_tagged_in, account_id=account_id, before=before, limit=limit)
            )
            return [(PostId(row["post_id"]), row["post_id"]) for row in rows]

        async def show(ids: list[PostId]) -> dict[PostId, Post]:
            found = await self.find_many(ids, viewer=viewer)
            return {each: post for each, post in found.items() if account_id in post.tagged_ids}

        return await fill_page(fetch, show, before=before, limit=limit)

    async def _find_visible(self, ids: Iterable[PostId], viewer: AccountId | None) -> dict[PostId, Post]:
        posts = await self._cache.find_posts(ids)
        authors = await self._visibility.find_content_owners(
            viewer, (post.author_id for post in posts.values())
        )
        return {
            each: post
            for each, post in posts.items()
            if visibility_rules.may_see_post(
                sees_author=post.author_id in authors,
                is_author=post.author_id == viewer,
                is_shown=post.is_shown,
            )
        }


def _listed(post: Post, counts: PostCounts, *, is_author: bool, has_liked: bool) -> ListedPost:
    likes = None if post.hides_like_count and not is_author else counts.like_count
    return ListedPost(post, likes, counts.comment_count, has_liked)


def _with_counts(post: Post, counts: PostCounts | None) -> Post:
    if counts is None:
        return post
    return msgspec.structs.replace(post, like_count=counts.like_count, comment_count=counts.comment_count)


def _for_viewer(post: Post, counts: PostCounts | None, viewer: AccountId | None, *, is_liked: bool) -> Post:
    counted = _with_counts(post, counts)
    hides_count = post.hides_like_count and post.author_id != viewer
    return msgspec.structs.replace(
        counted, viewer_has_liked=is_liked, like_count=None if hides_count else counted.like_count
    )
