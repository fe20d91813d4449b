"""Publishing, reading and liking posts."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import msgspec

from shardwright.running import Queries, Shards, Transaction
from tintype.base.cache import Cache
from tintype.base.ids import AccountId, MediaId, PostId, has_shard
from tintype.base.limits import Limiter
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.graph import Sight
from tintype.posts.errors import CaptionTooLong, MediaInvalid, PostNotFound
from tintype.posts.events import PostPublished
from tintype.posts.models import LONGEST_ALT_TEXT, LONGEST_CAPTION, MOST_MEDIA, Post, PostMedia

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
RECENT_EACH = 40
"""How many posts of each followed author a rebuilt timeline looks at."""
log = get_log("posts")


class Posts:
    """Posts and their likes."""

    def __init__(self, shards: Shards, outbox: Outbox, sight: Sight, cache: Cache, limiter: Limiter) -> None:
        self._shards, self._outbox, self._sight = shards, outbox, sight
        self._cache, self._limiter = cache, limiter

    async def publish(
        self,
        author_id: AccountId,
        media_ids: Sequence[MediaId],
        *,
        caption: str = "",
        alt_texts: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> PostId:
        """Publish a post once, however often a request with the same key is repeated."""
        _check(media_ids, caption, alt_texts)
        shard = self._shards.owner(author_id)
        async with shard.begin() as tx:
            post_id = await tx.fetch_value(
                QUERIES.publish, author_id=author_id, caption=caption, idempotency_key=idempotency_key
            )
            if post_id is None:
                earlier = await tx.fetch_value(
                    QUERIES.find_by_key, author_id=author_id, idempotency_key=idempotency_key
                )
                return PostId(earlier)
            await self._attach(tx, PostId(post_id), author_id, media_ids, alt_texts)
            await self._outbox.add(tx, PostPublished(PostId(post_id), author_id))
        log.info("post.published", post_id=post_id, shard=shard.number)
        return PostId(post_id)

    async def get(self, post_id: PostId, *, viewer: AccountId | None) -> Post:
        """One post that the viewer may see."""
        found = await self.find_many([post_id], viewer=viewer)
        if post_id not in found:
            raise PostNotFound
        return found[post_id]

    async def find_many(self, ids: Iterable[PostId], *, viewer: AccountId | None) -> dict[PostId, Post]:
        """Those of the posts that exist and that the viewer may see, in one round trip per server."""
        known = [post_id for post_id in set(ids) if has_shard(self._shards, post_id)]
        gathered = await self._shards.gather(QUERIES.gather_posts, known, viewer_id=viewer)
        found = {PostId(row["id"]): _post(row) for row in gathered.complete()}
        authors = await self._sight.content_of(viewer, (post.author_id for post in found.values()))
        return {post_id: post for post_id, post in found.items() if post.author_id in authors}

    async def page_of_author(self, author_id: AccountId, *, before: int, limit: int) -> list[PostId]:
        """Ids of an author's posts, newest first."""
        rows = await self._shards.owner(author_id).fetch(
            QUERIES.page_of_author, author_id=author_id, before=before, limit=limit
        )
        return [PostId(row["id"]) for row in rows]

    async def recent_of(self, authors: Iterable[AccountId]) -> list[PostId]:
        """Ids of the newest posts of many authors, newest first."""
        gathered = await self._shards.gather(
            QUERIES.gather_recent, list(set(authors)), limit_each=RECENT_EACH
        )
        return sorted((PostId(row["id"]) for row in gathered.complete()), reverse=True)

    async def like(self, post_id: PostId, by: AccountId) -> None:
        """Like a post once, however often the button is pressed."""
        await self._change_like(post_id, by, delta=1)

    async def unlike(self, post_id: PostId, by: AccountId) -> None:
        """Take a like back."""
        await self._change_like(post_id, by, delta=-1)

    async def count_comments(self, tx: Transaction, post_id: PostId, *, delta: int) -> None:
        """Move a post's count together with the comments that the same transaction adds or removes."""
        await tx.execute(QUERIES.count_comments, post_id=post_id, delta=delta)

    async def _change_like(self, post_id: PostId, by: AccountId, *, delta: int) -> None:
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        async with self._shards.owner(post_id).begin() as tx:
            query = QUERIES.like if delta > 0 else QUERIES.unlike
            is_new = await tx.fetch_one(query, post_id=post_id, account_id=by) is not None
            if is_new:
                await tx.execute(QUERIES.count_likes, post_id=post_id, delta=delta)
            elif await tx.fetch_one(QUERIES.has_post, post_id=post_id) is None:
                raise PostNotFound

    async def _attach(
        self,
        tx: Transaction,
        post_id: PostId,
        author_id: AccountId,
        media_ids: Sequence[MediaId],
        alt_texts: Sequence[str],
    ) -> None:
        taken = await tx.fetch(
            QUERIES.take_media, post_id=post_id, media_ids=list(media_ids), author_id=author_id
        )
        if len(taken) != len(media_ids):
            raise MediaInvalid
        padded = [*alt_texts, *[""] * (len(media_ids) - len(alt_texts))]
        await tx.execute(QUERIES.add_post_media, post_id=post_id, media_ids=list(media_ids), alt_texts=padded)
        await tx.execute(QUERIES.count_post, author_id=author_id)


def _check(media_ids: Sequence[MediaId], caption: str, alt_texts: Sequence[str]) -> None:
    if len(caption) > LONGEST_CAPTION:
        raise CaptionTooLong
    if not 1 <= len(media_ids) <= MOST_MEDIA or len(set(media_ids)) != len(media_ids):
        raise MediaInvalid
    if len(alt_texts) > len(media_ids) or any(len(text) > LONGEST_ALT_TEXT for text in alt_texts):
        raise MediaInvalid(
            f"Give at most one alt text per photo, each of at most {LONGEST_ALT_TEXT} characters."
        )


def _post(row: asyncpg.Record) -> Post:
    fields: dict[str, Any] = dict(row)
    fields["media"] = msgspec.json.decode(row["media"] or "[]", type=list[PostMedia])
    return Post(**fields)
