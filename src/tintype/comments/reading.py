"""Reading comments: what a viewer may not see leaves at most an empty place, and pages have no gaps."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg

from shardwright.running import Shard, Shards
from tintype.base.ids import LARGEST_ID, AccountId, CommentId, PostId, has_shard
from tintype.comments.errors import CommentNotFound
from tintype.comments.models import Comment, CommentPage, Place, SeenComment, Sort
from tintype.comments.store import QUERIES
from tintype.graph import Sight
from tintype.posts import PostNotFound, Posts

START = Place(LARGEST_ID, 2**31 - 1)
FROM_THE_FIRST = Place(0)
MOST_LOOKS = 5
"""A page that finds little to show gives up after so many looks and lets the client ask on."""
Fetch = Callable[[Place, int], Awaitable["list[asyncpg.Record]"]]


class Reading:
    """Pages of comments as one viewer sees them."""

    def __init__(self, shards: Shards, sight: Sight, posts: Posts) -> None:
        self._shards, self._sight, self._posts = shards, sight, posts

    async def get(self, comment_id: CommentId, *, viewer: AccountId | None) -> SeenComment:
        """One comment under a post that the viewer may see."""
        comment, author = await self._find(comment_id, viewer)
        shown = await self._show([comment], viewer, author)
        if not shown or shown[0].is_empty:
            raise CommentNotFound
        return shown[0]

    async def page(
        self, post_id: PostId, *, viewer: AccountId | None, sort: Sort, place: Place | None, limit: int
    ) -> CommentPage:
        """Comments under a post itself; those on top come first, and only on the first page."""
        author = await self._post_author(post_id, viewer)
        shard = self._shards.owner(post_id)
        top: list[SeenComment] = []
        if place is None:
            pinned = [CommentId(row["id"]) for row in await shard.fetch(QUERIES.list_pinned, post_id=post_id)]
            top = await self._show(await self._load(shard, pinned, viewer), viewer, author)
        found = await self._fill(
            shard, _by_sort(shard, post_id, sort), place or _start(sort), limit, viewer, author
        )
        return CommentPage([*top, *found.comments], found.next_place)

    async def thread(
        self, comment_id: CommentId, *, viewer: AccountId | None, place: Place | None, limit: int
    ) -> CommentPage:
        """All answers in the thread of a comment, oldest first, each naming what it answers."""
        comment, author = await self._find(comment_id, viewer)
        shard, root_id = self._shards.owner(comment_id), comment.root_id or comment.id

        async def fetch(after: Place, count: int) -> list[asyncpg.Record]:
            return await shard.fetch(QUERIES.page_thread, root_id=root_id, after=after.id, limit=count)

        return await self._fill(shard, fetch, place or FROM_THE_FIRST, limit, viewer, author)

    async def kept_back(
        self, post_id: PostId, *, owner: AccountId, place: Place | None, limit: int
    ) -> CommentPage:
        """What waits for the post's author to decide."""
        if await self._post_author(post_id, owner) != owner:
            raise PostNotFound
        shard = self._shards.owner(post_id)

        async def fetch(before: Place, count: int) -> list[asyncpg.Record]:
            return await shard.fetch(QUERIES.page_kept_back, post_id=post_id, before=before.id, limit=count)

        return await self._fill(shard, fetch, place or START, limit, owner, owner)

    async def _post_author(self, post_id: PostId, viewer: AccountId | None) -> AccountId:
        return (await self._posts.get(post_id, viewer=viewer)).author_id

    async def _find(self, comment_id: CommentId, viewer: AccountId | None) -> tuple[Comment, AccountId]:
        """A comment under a post that the viewer may see, and whose post that is."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._load(self._shards.owner(comment_id), [comment_id], viewer)
        if not found:
            raise CommentNotFound
        try:
            return found[0], await self._post_author(found[0].post_id, viewer)
        except PostNotFound:
            raise CommentNotFound from None

    async def _load(self, shard: Shard, ids: Sequence[CommentId], viewer: AccountId | None) -> list[Comment]:
        if not ids:
            return []
        rows = await shard.fetch(QUERIES.load_comments, ids=list(ids), viewer_id=viewer)
        found = {CommentId(row["id"]): Comment(**_fields(row)) for row in rows}
        return [found[each] for each in ids if each in found]

    async def _fill(  # noqa: PLR0917 - the parts of one page, used by the pages above alone
        self,
        shard: Shard,
        fetch: Fetch,
        place: Place,
        limit: int,
        viewer: AccountId | None,
        post_author: AccountId,
    ) -> CommentPage:
        shown: list[SeenComment] = []
        for _ in range(MOST_LOOKS):
            rows = await fetch(place, limit + 1)
            page, has_more = rows[:limit], len(rows) > limit
            ids = [CommentId(row["id"]) for row in page]
            places = {row["id"]: Place(row["id"], row["like_count"]) for row in page}
            for seen in await self._show(await self._load(shard, ids, viewer), viewer, post_author):
                shown.append(seen)
                if len(shown) == limit:
                    is_last = not has_more and seen.comment.id == ids[-1]
                    return CommentPage(shown, None if is_last else places[seen.comment.id])
            if not has_more:
                return CommentPage(shown, None)
            place = places[ids[-1]]
        return CommentPage(shown, place)

    async def _show(
        self, comments: Sequence[Comment], viewer: AccountId | None, post_author: AccountId
    ) -> list[SeenComment]:
        people = {each.account_id for each in comments} | {
            each.parent_account_id for each in comments if each.parent_account_id is not None
        }
        known = {each: seen.account for each, seen in (await self._sight.of(viewer, people)).items()}
        shown: list[SeenComment] = []
        for each in comments:
            author = known.get(each.account_id) if _may_see(each, viewer, post_author) else None
            answers = known.get(each.parent_account_id) if each.parent_account_id is not None else None
            if author is not None or each.has_replies:
                shown.append(SeenComment(each, author, answers, post_author))
        return shown


def _may_see(comment: Comment, viewer: AccountId | None, post_author: AccountId) -> bool:
    if comment.state == "visible":
        return True
    return comment.state in {"filtered", "waiting"} and viewer in {comment.account_id, post_author}


def _by_sort(shard: Shard, post_id: PostId, sort: Sort) -> Fetch:
    async def newest(place: Place, count: int) -> list[asyncpg.Record]:
        return await shard.fetch(QUERIES.page_newest, post_id=post_id, before=place.id, limit=count)

    async def oldest(place: Place, count: int) -> list[asyncpg.Record]:
        return await shard.fetch(QUERIES.page_oldest, post_id=post_id, after=place.id, limit=count)

    async def top(place: Place, count: int) -> list[asyncpg.Record]:
        return await shard.fetch(
            QUERIES.page_top, post_id=post_id, likes_before=place.like_count, before=place.id, limit=count
        )

    return {"newest": newest, "oldest": oldest, "top": top}[sort]


def _start(sort: Sort) -> Place:
    return FROM_THE_FIRST if sort == "oldest" else START


def _fields(row: asyncpg.Record) -> dict[str, Any]:
    return dict(row)
