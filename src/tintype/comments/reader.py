"""Reading comments as a viewer sees them.

A comment that the viewer may not see is left out, or shown as a placeholder if it has replies.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import asyncpg

from shardwright.routing import ReadShard, Shard
from tintype.base.ids import LARGEST_ID, AccountId, CommentId, PostId, has_shard
from tintype.base.replica_reads import replica_reader
from tintype.base.shard_groups import run_by_shard
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentNotFound
from tintype.comments.models import Comment, CommentCursor, CommentPage, Sort, VisibleComment
from tintype.comments.store import QUERIES
from tintype.graph import visibility_rules
from tintype.posts import PostNotFound

NEWEST = CommentCursor(LARGEST_ID, 2**31 - 1)
OLDEST = CommentCursor(0)
MAX_ROUNDS = 5
"""A page that finds little to show ends early after so many reads; the client asks for the next one."""
Fetch = Callable[[CommentCursor, int], Awaitable["list[asyncpg.Record]"]]


class CommentReader:
    """Comments one by one and in pages, for one viewer; a guest is None."""

    def __init__(self, dependencies: CommentsDependencies) -> None:
        self._shards, self._visibility = dependencies.shards, dependencies.visibility
        self._posts = dependencies.posts

    async def get(self, comment_id: CommentId, *, viewer: AccountId | None) -> VisibleComment:
        """One comment that the viewer may see, or `CommentNotFound`."""
        comment, author = await self._find(comment_id, viewer)
        shown = await self._show([comment], viewer, author)
        if not shown or shown[0].is_placeholder:
            raise CommentNotFound
        return shown[0]

    async def find_many(
        self, ids: Iterable[CommentId], *, viewer: AccountId | None
    ) -> dict[CommentId, VisibleComment]:
        """Those of the comments that the viewer may see, in one query per shard."""
        loaded: list[Comment] = []

        async def load(shard: Shard, own: list[CommentId]) -> None:
            loaded.extend(await self._load(shard, own, viewer))

        wanted = [each for each in dict.fromkeys(ids) if has_shard(self._shards, each)]
        await run_by_shard(self._shards, wanted, int, load)
        posts = await self._posts.find_many({each.post_id for each in loaded}, viewer=viewer)
        found: dict[CommentId, VisibleComment] = {}
        for author in {post.author_id for post in posts.values()}:
            of_author = [
                each for each in loaded if each.post_id in posts and posts[each.post_id].author_id == author
            ]
            shown = await self._show(of_author, viewer, author)
            found |= {each.comment.id: each for each in shown if not each.is_placeholder}
        return found

    async def page(
        self,
        post_id: PostId,
        *,
        viewer: AccountId | None,
        sort: Sort,
        cursor: CommentCursor | None,
        limit: int,
    ) -> CommentPage:
        """Comments under a post without their replies; pinned ones come first, on the first page only."""
        author = await self._get_post_author(post_id, viewer)
        shard, lists = self._shards.owner(post_id), replica_reader(self._shards).owner(post_id)
        top: list[VisibleComment] = []
        if cursor is None:
            pinned = [CommentId(row["id"]) for row in await lists.fetch(QUERIES.list_pinned, post_id=post_id)]
            top = await self._show(await self._load(shard, pinned, viewer), viewer, author)
        found = await self._fill(
            shard, _fetch_sorted(lists, post_id, sort), cursor or _first_cursor(sort), limit, viewer, author
        )
        return CommentPage([*top, *found.comments], found.next_cursor)

    async def page_thread(
        self, comment_id: CommentId, *, viewer: AccountId | None, cursor: CommentCursor | None, limit: int
    ) -> CommentPage:
        """All replies in the thread of a comment, oldest first, each with whom it replies to."""
        comment, author = await self._find(comment_id, viewer)
        shard, root_id = self._shards.owner(comment_id), comment.root_id or comment.id
        lists = replica_reader(self._shards).owner(comment_id)

        async def fetch(after: CommentCursor, limit: int) -> list[asyncpg.Record]:
            return await lists.fetch(QUERIES.page_thread, root_id=root_id, after=after.id, limit=limit)

        return await self._fill(shard, fetch, cursor or OLDEST, limit, viewer, author)

    async def page_held_back(
        self, post_id: PostId, *, owner: AccountId, cursor: CommentCursor | None, limit: int
    ) -> CommentPage:
        """Comments that wait for the approval of the post's author."""
        if await self._get_post_author(post_id, owner) != owner:
            raise PostNotFound
        shard = self._shards.owner(post_id)

        async def fetch(before: CommentCursor, limit: int) -> list[asyncpg.Record]:
            return await shard.fetch(QUERIES.page_held_back, post_id=post_id, before=before.id, limit=limit)

        return await self._fill(shard, fetch, cursor or NEWEST, limit, owner, owner)

    async def _get_post_author(self, post_id: PostId, viewer: AccountId | None) -> AccountId:
        return (await self._posts.get(post_id, viewer=viewer)).author_id

    async def _find(self, comment_id: CommentId, viewer: AccountId | None) -> tuple[Comment, AccountId]:
        """A comment under a post that the viewer may see, and the author of that post."""
        if not has_shard(self._shards, comment_id):
            raise CommentNotFound
        found = await self._load(self._shards.owner(comment_id), [comment_id], viewer)
        if not found:
            raise CommentNotFound
        try:
            return found[0], await self._get_post_author(found[0].post_id, viewer)
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
        cursor: CommentCursor,
        limit: int,
        viewer: AccountId | None,
        post_author: AccountId,
    ) -> CommentPage:
        """Read on until there are `limit` comments to show, or there are no more."""
        shown: list[VisibleComment] = []
        for _ in range(MAX_ROUNDS):
            rows = await fetch(cursor, limit + 1)
            page, has_more = rows[:limit], len(rows) > limit
            ids = [CommentId(row["id"]) for row in page]
            cursors = {row["id"]: CommentCursor(row["id"], row["like_count"]) for row in page}
            for visible in await self._show(await self._load(shard, ids, viewer), viewer, post_author):
                shown.append(visible)
                if len(shown) == limit:
                    is_last = not has_more and visible.comment.id == ids[-1]
                    return CommentPage(shown, None if is_last else cursors[visible.comment.id])
            if not has_more:
                return CommentPage(shown, None)
            cursor = cursors[ids[-1]]
        return CommentPage(shown, cursor)

    async def _show(
        self, comments: Sequence[Comment], viewer: AccountId | None, post_author: AccountId
    ) -> list[VisibleComment]:
        people = {each.account_id for each in comments} | {
            each.parent_account_id for each in comments if each.parent_account_id is not None
        }
        visible = await self._visibility.find_accounts(viewer, people)
        accounts = {each: found.account for each, found in visible.items()}
        shown: list[VisibleComment] = []
        for each in comments:
            author = accounts.get(each.account_id) if _may_see(each, viewer, post_author) else None
            answers = accounts.get(each.parent_account_id) if each.parent_account_id is not None else None
            if author is not None or each.has_replies:
                shown.append(VisibleComment(each, author, answers, post_author))
        return shown


def _may_see(comment: Comment, viewer: AccountId | None, post_author: AccountId) -> bool:
    return visibility_rules.may_see_comment(
        is_published=comment.state == "visible",
        is_held_back=comment.state in {"filtered", "waiting"},
        is_author=viewer == comment.account_id,
        is_post_author=viewer == post_author,
    )


def _fetch_sorted(shard: Shard | ReadShard, post_id: PostId, sort: Sort) -> Fetch:
    async def newest(cursor: CommentCursor, limit: int) -> list[asyncpg.Record]:
        return await shard.fetch(QUERIES.page_newest, post_id=post_id, before=cursor.id, limit=limit)

    async def oldest(cursor: CommentCursor, limit: int) -> list[asyncpg.Record]:
        return await shard.fetch(QUERIES.page_oldest, post_id=post_id, after=cursor.id, limit=limit)

    async def top(cursor: CommentCursor, limit: int) -> list[asyncpg.Record]:
        return await shard.fetch(
            QUERIES.page_top, post_id=post_id, likes_before=cursor.like_count, before=cursor.id, limit=limit
        )

    return {"newest": newest, "oldest": oldest, "top": top}[sort]


def _first_cursor(sort: Sort) -> CommentCursor:
    return OLDEST if sort == "oldest" else NEWEST


def _fields(row: asyncpg.Record) -> dict[str, Any]:
    return dict(row)
