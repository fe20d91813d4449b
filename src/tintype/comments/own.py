"""What somebody said and liked everywhere, indexed with themselves: fed by events, used by exports and departures."""

import contextlib
from collections.abc import AsyncIterator

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.comments.errors import CommentNotFound
from tintype.comments.events import CommentAdded, CommentKept, CommentLiked, CommentRemoved
from tintype.comments.liking import Liking
from tintype.comments.removing import Removing
from tintype.comments.store import QUERIES

BATCH = 100
POSTS_AT_ONCE = 20


class OwnComments:
    """One person's part in all comments."""

    def __init__(self, shards: Shards, removing: Removing, liking: Liking) -> None:
        self._shards, self._removing, self._liking = shards, removing, liking

    async def note_added(self, added: CommentAdded | CommentKept) -> None:
        """The commenter's index knows the comment."""
        await self._shards.owner(added.account_id).execute(
            QUERIES.note_own_comment,
            account_id=added.account_id,
            comment_id=added.comment_id,
            post_id=added.post_id,
        )

    async def note_removed(self, removed: CommentRemoved) -> None:
        """The commenter's index knows that it is gone for good."""
        if removed.is_deleted:
            await self._shards.owner(removed.account_id).execute(
                QUERIES.note_own_removal,
                account_id=removed.account_id,
                comment_id=removed.comment_id,
                post_id=removed.post_id,
            )

    async def note_like(self, liked: CommentLiked) -> None:
        """The index of the one who liked knows it."""
        await self._shards.owner(liked.account_id).execute(
            QUERIES.note_own_like,
            account_id=liked.account_id,
            comment_id=liked.comment_id,
            change_id=liked.change_id,
            is_liked=liked.is_liked,
        )

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Comments with their words, then liked comments and filtered words."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_comments, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["comment_id"]
            ids = [row["comment_id"] for row in rows]
            found = await self._shards.gather(QUERIES.gather_words, ids)
            for row in sorted(found.complete(), key=lambda each: each["id"]):
                yield Record(
                    "comments.json",
                    {
                        "comment_id": str(row["id"]),
                        "post_id": str(row["post_id"]),
                        "reply_to": str(row["parent_id"]) if row["parent_id"] else None,
                        "text": row["text"],
                        "created_at": self._shards.map.layout.id_time(row["id"]).isoformat(),
                    },
                )
        async for record in self._export_rest(account_id):
            yield record

    async def erase(self, account_id: AccountId) -> int:
        """Some of it, until nothing is left: what they said, what they liked, what was said under their posts."""
        home = self._shards.owner(account_id)
        said = await home.fetch(QUERIES.page_own_comments, account_id=account_id, after=0, limit=BATCH)
        for row in said:
            comment_id, post_id = CommentId(row["comment_id"]), PostId(row["post_id"])
            with contextlib.suppress(CommentNotFound):
                await self._removing.delete(comment_id, account_id)
            await self.note_removed(CommentRemoved(comment_id, post_id, account_id))
        liked = await home.fetch(QUERIES.page_own_comment_likes, account_id=account_id, after=0, limit=BATCH)
        for row in liked:
            with contextlib.suppress(CommentNotFound):
                await self._liking.unlike(CommentId(row["comment_id"]), account_id)
            await home.execute(
                QUERIES.note_own_like,
                account_id=account_id,
                comment_id=row["comment_id"],
                change_id=row["change_id"] + 1,
                is_liked=False,
            )
        posts = await home.fetch(QUERIES.list_posts_with_comments, account_id=account_id, limit=POSTS_AT_ONCE)
        under = await self._removing.drop_under([PostId(row["post_id"]) for row in posts])
        done = len(said) + len(liked) + under
        return done or await home.fetch_value(QUERIES.drop_own_index, account_id=account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """Rows of theirs, and rows under their posts."""
        return await self._shards.owner(account_id).fetch_value(
            QUERIES.count_own_index, account_id=account_id
        )

    async def sweep(self) -> None:
        """Removed index rows that no late event can ask for any more are gone."""
        for number in self._shards.map.owners:
            await self._shards.shard(number).execute(QUERIES.sweep_own_comments)
            await self._shards.shard(number).execute(QUERIES.sweep_own_comment_likes)

    async def _export_rest(self, account_id: AccountId) -> AsyncIterator[Record]:
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_comment_likes, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["comment_id"]
            for row in rows:
                yield Record("liked_comments.json", {"comment_id": str(row["comment_id"])})
        for row in await home.fetch(QUERIES.list_filters, account_id=account_id):
            yield Record("filtered_words.json", {"word": row["word"]})
