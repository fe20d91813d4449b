"""Editing a post after it was published."""

from collections.abc import Sequence

import asyncpg
import msgspec

from shardwright.running import Transaction
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.log import get_log
from tintype.posts.checking import check_alt_text, check_caption, check_place, check_tagged, check_tags
from tintype.posts.composing import Composed
from tintype.posts.errors import MediaInvalid, PostNotFound
from tintype.posts.events import PostEdited
from tintype.posts.models import Edit, ItemEdit
from tintype.posts.publishing import add_tags, columns_of
from tintype.posts.room import QUERIES, read_place, read_spans
from tintype.posts.states import States
from tintype.posts.tagging import list_tagged

log = get_log("posts")
UNSET = msgspec.UNSET


class Editing(States):
    """Changes of words, places, tags and choices."""

    async def edit(self, post_id: PostId, by: AccountId, edit: Edit) -> None:
        """Change what the edit names and leave the rest."""
        await self._check_author(post_id, by)
        edit = _check(edit)
        composed = None if edit.caption is UNSET else await self._composer.compose(by, edit.caption)
        await self._check_new_tags(post_id, by, edit)
        async with self._shards.owner(post_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.lock_post, post_id=post_id)
            if row is None:
                raise PostNotFound
            people = await list_tagged(tx, post_id)
            if edit.items:
                await _edit_items(tx, post_id, edit.items)
            event = await _write(tx, row, people, edit, composed)
            await self._outbox.add(tx, event)
        await self.forget(post_id)
        await self._mirror_tags_at_once(
            post_id, event.change_id, added=event.tagged_ids, removed=event.untagged_ids
        )
        log.info("post.edited", post_id=post_id)

    async def _check_new_tags(self, post_id: PostId, by: AccountId, edit: Edit) -> None:
        """Only who was not in the picture before is asked about: others may have gone private since."""
        named = {each.account_id for item in edit.items if item.tagged is not UNSET for each in item.tagged}
        if named:
            there = (await self.get(post_id, viewer=by)).tagged_ids
            await self._composer.check_taggable(by, named - set(there))


def _check(edit: Edit) -> Edit:
    ids = [item.media_id for item in edit.items]
    if len(set(ids)) != len(ids):
        raise MediaInvalid("Name each photo once.")
    return msgspec.structs.replace(
        edit,
        caption=UNSET if edit.caption is UNSET else check_caption(edit.caption),
        place=UNSET if edit.place is UNSET else check_place(edit.place),
        items=tuple(_check_item(item) for item in edit.items),
    )


def _check_item(item: ItemEdit) -> ItemEdit:
    return msgspec.structs.replace(
        item,
        alt_text=UNSET if item.alt_text is UNSET else check_alt_text(item.alt_text),
        tagged=UNSET if item.tagged is UNSET else check_tags(item.tagged),
    )


async def _edit_items(tx: Transaction, post_id: PostId, items: Sequence[ItemEdit]) -> None:
    rows = await tx.fetch(QUERIES.list_post_media, post_id=post_id)
    positions = {MediaId(row["media_id"]): row["position"] for row in rows}
    for item in items:
        position = positions.get(item.media_id)
        if position is None:
            raise MediaInvalid("That photo is not part of this post.")
        if item.alt_text is not UNSET:
            await tx.execute(
                QUERIES.edit_alt_text, post_id=post_id, position=position, alt_text=item.alt_text
            )
        if item.tagged is not UNSET:
            await tx.execute(QUERIES.drop_tags, post_id=post_id, position=position)
            await add_tags(tx, post_id, [(position, each) for each in item.tagged])


async def _write(
    tx: Transaction,
    row: asyncpg.Record,
    people: Sequence[AccountId],
    edit: Edit,
    composed: Composed | None,
) -> PostEdited:
    post_id, author_id = PostId(row["id"]), AccountId(row["author_id"])
    words = composed or _composed(row)
    place = read_place(row["place_id"], row["place_name"], row["lat"], row["lon"])
    place = place if edit.place is UNSET else edit.place
    change_id = await tx.fetch_value(
        QUERIES.edit_post,
        post_id=post_id,
        **columns_of(words, place),
        comments_enabled=_or(edit.comments_enabled, row["comments_enabled"]),
        hides_like_count=_or(edit.hides_like_count, row["hides_like_count"]),
    )
    tagged = await list_tagged(tx, post_id)
    check_tagged(tagged)
    untagged = tuple(each for each in people if each not in tagged)
    place_id = place.id if place else None
    return PostEdited(
        post_id,
        author_id,
        change_id,
        words.hashtags,
        words.mention_ids,
        tagged,
        place_id,
        untagged,
    )


def _composed(row: asyncpg.Record) -> Composed:
    mentions = tuple(AccountId(each) for each in row["mention_ids"])
    return Composed(row["caption"], read_spans(row["spans"]), tuple(row["hashtags"]), mentions)


def _or(value: bool | msgspec.UnsetType, before: bool) -> bool:
    return before if value is UNSET else value
