"""Publishing of imported posts: one transaction on the author's shard writes the post with the key of its item.

An imported post has a time of its own. It appears on its author's wall and under its hashtags by that time; it goes
into no feed, notifies nobody, and does not count towards the daily limit.
"""

from collections.abc import Sequence

from shardwright.routing import Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.posts.caption import parse_imported_caption
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import MediaInvalid
from tintype.posts.events import PostImported
from tintype.posts.models import MAX_MEDIA, DraftMedia, ImportedPost
from tintype.posts.publish import PublishedPost, caption_columns
from tintype.posts.store import QUERIES
from tintype.posts.validation import check_alt_text, check_caption

MAX_KEY_LENGTH = 200
log = get_log("posts")


class ImportedPosts:
    """Publishes posts that people bring from elsewhere."""

    def __init__(self, dependencies: PostsDependencies) -> None:
        self._shards, self._outbox = dependencies.shards, dependencies.outbox
        self._accounts, self._media = dependencies.accounts, dependencies.media

    async def publish(self, author_id: AccountId, imported: ImportedPost) -> PublishedPost:
        """Publish a post once per key; one that exists already, even deleted, is returned instead."""
        _check(imported)
        caption = parse_imported_caption(check_caption(imported.caption))
        async with self._shards.owner(author_id).begin() as tx:
            # The author's lock makes keys and counts exact, as with every post.
            author = await self._accounts.lock(tx, author_id)
            if author is None or author.status != "active":
                raise AccountNotFound
            earlier = await tx.fetch_one(QUERIES.find_imported, author_id=author_id, import_key=imported.key)
            if earlier is not None:
                return PublishedPost(PostId(earlier["id"]), is_new=False)
            columns = caption_columns(caption, None)
            post_id = PostId(
                await tx.fetch_value(
                    QUERIES.add_imported_post,
                    author_id=author_id,
                    **{name: columns[name] for name in ("caption", "spans", "hashtags")},
                    posted_at=imported.posted_at,
                    import_key=imported.key,
                    is_archived=imported.is_archived,
                )
            )
            await self._attach(tx, author_id, post_id, imported.media)
            if imported.is_archived:
                await self._accounts.touch(tx, author_id)
            else:
                await self._accounts.change_post_count(tx, author_id, 1)
                await self._outbox.add(tx, PostImported(post_id, author_id, caption.hashtags))
        await self._accounts.invalidate_counts(author_id)
        log.debug("post.imported", post_id=post_id, shard=self._shards.shard_of(post_id))
        return PublishedPost(post_id, is_new=True)

    async def which_published(self, author_id: AccountId, keys: Sequence[str]) -> set[str]:
        """Those of the keys that the author has posts of, deleted or not."""
        if not keys:
            return set()
        rows = await self._shards.owner(author_id).fetch(
            QUERIES.which_imported, author_id=author_id, import_keys=list(keys)
        )
        return {row["import_key"] for row in rows}

    async def _attach(
        self, tx: Transaction, author_id: AccountId, post_id: PostId, media: Sequence[DraftMedia]
    ) -> None:
        media_ids = [item.media_id for item in media]
        if len(await self._media.attach(tx, author_id, media_ids, to=post_id)) != len(media_ids):
            raise MediaInvalid
        alt_texts = [check_alt_text(item.alt_text) for item in media]
        await tx.execute(QUERIES.add_post_media, post_id=post_id, media_ids=media_ids, alt_texts=alt_texts)


def _check(imported: ImportedPost) -> None:
    if not 0 < len(imported.key) <= MAX_KEY_LENGTH:
        raise ValueError(f"The key of an imported post has 1 to {MAX_KEY_LENGTH} characters.")
    if not 1 <= len(imported.media) <= MAX_MEDIA:
        raise MediaInvalid
