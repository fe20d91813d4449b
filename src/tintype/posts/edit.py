"""Editing a published post: caption, place, tags, alt texts and options."""

from collections.abc import Sequence

import asyncpg
import msgspec

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.log import get_log
from tintype.posts.caption import Caption, CaptionParser
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import MediaInvalid, PostNotFound
from tintype.posts.events import PostEdited
from tintype.posts.models import PostChanges, PostMediaChanges
from tintype.posts.post_cache import PostCache
from tintype.posts.publish import caption_columns
from tintype.posts.reader import PostReader
from tintype.posts.store import QUERIES, read_place, read_spans
from tintype.posts.tags import PersonTags, TagChanges, add_tags, list_tagged
from tintype.posts.validation import check_edit, check_tagged_count

log = get_log("posts")
UNSET = msgspec.UNSET


class PostEditor:
    """Edits posts for their authors."""

    def __init__(
        self,
        dependencies: PostsDependencies,
        cache: PostCache,
        reader: PostReader,
        tags: PersonTags,
        captions: CaptionParser,
    ) -> None:
        self._shards, self._outbox, self._cache = dependencies.shards, dependencies.outbox, cache
        self._reader, self._tags, self._captions = reader, tags, captions

    async def edit(self, post_id: PostId, by: AccountId, edit: PostChanges) -> None:
        """Change the fields that are set and leave the others as they are."""
        await self._reader.check_author(post_id, by)
        edit = check_edit(edit)
        caption = None if edit.caption is UNSET else await self._captions.parse(by, edit.caption)
        await self._check_new_tags(post_id, by, edit)
        async with self._shards.owner(post_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_post, post_id=post_id)
            if row is None:
                raise PostNotFound
            tagged_before = await list_tagged(tx, post_id)
            if edit.media:
                await _edit_media(tx, post_id, edit.media)
            event = await _write(tx, row, tagged_before, edit, caption)
            await self._outbox.add(tx, event)
        await self._cache.invalidate(post_id)
        await self._tags.try_index(post_id, event.change_id, TagChanges(event.tagged_ids, event.untagged_ids))
        log.info("post.edited", post_id=post_id)

    async def _check_new_tags(self, post_id: PostId, by: AccountId, edit: PostChanges) -> None:
        """Check only people who were not tagged before: the others may have gone private since."""
        named = {each.account_id for item in edit.media if item.tagged is not UNSET for each in item.tagged}
        if named:
            tagged_before = (await self._reader.get(post_id, viewer=by)).tagged_ids
            await self._tags.check_taggable(by, named - set(tagged_before))


async def _edit_media(tx: Transaction, post_id: PostId, media: Sequence[PostMediaChanges]) -> None:
    rows = await tx.fetch(QUERIES.list_post_media, post_id=post_id)
    positions = {MediaId(row["media_id"]): row["position"] for row in rows}
    for item in media:
        position = positions.get(item.media_id)
        if position is None:
            raise MediaInvalid("That photo is not part of this post.")
        if item.alt_text is not UNSET:
            await tx.execute(
                QUERIES.edit_alt_text, post_id=post_id, position=position, alt_text=item.alt_text
            )
        if item.tagged is not UNSET:
            await tx.execute(QUERIES.delete_tags, post_id=post_id, position=position)
            await add_tags(tx, post_id, [(position, each) for each in item.tagged])


async def _write(
    tx: Transaction,
    row: asyncpg.Record,
    tagged_before: Sequence[AccountId],
    edit: PostChanges,
    new_caption: Caption | None,
) -> PostEdited:
    post_id, author_id = PostId(row["id"]), AccountId(row["author_id"])
    caption = new_caption or _stored_caption(row)
    place = read_place(row["place_id"], row["place_name"], row["lat"], row["lon"])
    place = place if edit.place is UNSET else edit.place
    change_id = await tx.fetch_value(
        QUERIES.edit_post,
        post_id=post_id,
        **caption_columns(caption, place),
        comments_enabled=_or(edit.comments_enabled, row["comments_enabled"]),
        hides_like_count=_or(edit.hides_like_count, row["hides_like_count"]),
        shows_camera=_or(edit.shows_camera, row["shows_camera"]),
    )
    tagged = await list_tagged(tx, post_id)
    check_tagged_count(tagged)
    untagged = tuple(each for each in tagged_before if each not in tagged)
    place_id = place.id if place else None
    return PostEdited(
        post_id,
        author_id,
        change_id,
        caption.hashtags,
        caption.mention_ids,
        tagged,
        place_id,
        untagged,
    )


def _stored_caption(row: asyncpg.Record) -> Caption:
    mentions = tuple(AccountId(each) for each in row["mention_ids"])
    return Caption(row["caption"], read_spans(row["spans"]), tuple(row["hashtags"]), mentions)


def _or(value: bool | msgspec.UnsetType, before: bool) -> bool:
    return before if value is UNSET else value
