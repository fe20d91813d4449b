"""Export and erasure of what the comments room stores about a person."""

import contextlib
from collections.abc import AsyncIterator

from tintype.base.ids import AccountId, CommentId, PostId
from tintype.base.personal_data import ExportRecord
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import CommentNotFound
from tintype.comments.like import CommentLikes
from tintype.comments.person_index import PersonIndex
from tintype.comments.remove import CommentRemover
from tintype.comments.store import QUERIES

BATCH = 100
POSTS_AT_ONCE = 20


class CommentsPersonalData:
    """One person's comments, comment likes and word filters, and the comments under their posts."""

    def __init__(
        self,
        dependencies: CommentsDependencies,
        index: PersonIndex,
        remover: CommentRemover,
        likes: CommentLikes,
    ) -> None:
        self._shards, self._index, self._remover, self._likes = dependencies.shards, index, remover, likes

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Comments with their text, then liked comments and filtered words."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_comments, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["comment_id"]
            ids = [row["comment_id"] for row in rows]
            found = await self._shards.gather(QUERIES.gather_texts, ids)
            for row in sorted(found.complete(), key=lambda each: each["id"]):
                yield ExportRecord(
                    "comments.json",
                    {
                        "comment_id": str(row["id"]),
                        "post_id": str(row["post_id"]),
                        "reply_to": str(row["parent_id"]) if row["parent_id"] else None,
                        "text": row["text"],
                        "created_at": self._shards.map.layout.id_time(row["id"]).isoformat(),
                    },
                )
        async for record in self._export_likes_and_filters(account_id):
            yield record

    async def erase(self, account_id: AccountId) -> int:
        """Erase a batch of a person's comments, likes, and the comments under their posts; returns how many.

        The index and the word filters go last, when nothing else is left.
        """
        erased = await self._erase_comments(account_id) + await self._erase_likes(account_id)
        home = self._shards.owner(account_id)
        posts = await home.fetch(QUERIES.list_posts_with_comments, account_id=account_id, limit=POSTS_AT_ONCE)
        erased += await self._remover.delete_under([PostId(row["post_id"]) for row in posts])
        return erased or await home.fetch_value(QUERIES.erase_index, account_id=account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person, and under their posts, are still stored."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)

    async def _erase_comments(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.page_own_comments, account_id=account_id, after=0, limit=BATCH)
        for row in rows:
            comment_id, post_id = CommentId(row["comment_id"]), PostId(row["post_id"])
            with contextlib.suppress(CommentNotFound):
                await self._remover.delete(comment_id, account_id)
            await self._index.remove_comment(account_id, comment_id, post_id)
        return len(rows)

    async def _erase_likes(self, account_id: AccountId) -> int:
        home = self._shards.owner(account_id)
        rows = await home.fetch(QUERIES.page_own_comment_likes, account_id=account_id, after=0, limit=BATCH)
        for row in rows:
            comment_id = CommentId(row["comment_id"])
            with contextlib.suppress(CommentNotFound):
                await self._likes.unlike(comment_id, account_id)
            await self._index.remove_like(account_id, comment_id, row["change_id"] + 1)
        return len(rows)

    async def _export_likes_and_filters(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_comment_likes, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["comment_id"]
            for row in rows:
                yield ExportRecord("liked_comments.json", {"comment_id": str(row["comment_id"])})
        for row in await home.fetch(QUERIES.list_filters, account_id=account_id):
            yield ExportRecord("filtered_words.json", {"word": row["word"]})
