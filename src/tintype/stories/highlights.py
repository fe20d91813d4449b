"""Highlights: copies of one's stories that stay on the profile, out of the days that are dropped.

A story can be copied while it lives; there is no archive of past ones. The copy shares the story's picture, which loses
its end with the first copy and gets it back, or goes, with the last.
"""

from collections.abc import Sequence
from itertools import groupby

import asyncpg

from shardwright.running import Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.graph import Seen
from tintype.posts import clean
from tintype.stories.errors import (
    HighlightEmpty,
    HighlightFull,
    HighlightInvalid,
    HighlightNotFound,
    StoryNotFound,
)
from tintype.stories.models import (
    LONGEST_TITLE,
    MOST_HIGHLIGHTS,
    MOST_ITEMS,
    Highlight,
    HighlightChange,
    HighlightId,
    Item,
    ItemId,
    StoryId,
)
from tintype.stories.reading import NOBODY
from tintype.stories.store import QUERIES, AtDesk, mention_ids, read_media, read_mentions


class Highlights(AtDesk):
    """Everything of one owner happens one after another, under the lock of their account."""

    async def make(
        self, owner: AccountId, title: str, story_ids: Sequence[StoryId], *, cover: StoryId | None = None
    ) -> HighlightId:
        """Stories that live become a highlight, first in the row."""
        title = _title(title)
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner)
            counted = await tx.fetch_one(QUERIES.count_highlights, account_id=owner)
            if counted is None or counted["highlights"] >= MOST_HIGHLIGHTS:
                raise HighlightFull
            made = await tx.fetch_value(
                QUERIES.add_highlight, account_id=owner, title=title, position=counted["position"]
            )
            items = await self._copy(tx, owner, made, story_ids)
            if cover is not None:
                if cover not in items:
                    raise StoryNotFound
                await tx.execute(
                    QUERIES.change_highlight, highlight_id=made, title=None, cover_item_id=items[cover]
                )
        return HighlightId(made)

    async def change(self, owner: AccountId, highlight_id: HighlightId, change: HighlightChange) -> None:
        """Another title, cover or order, more stories or fewer, all at once."""
        title = None if change.title is None else _title(change.title)
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner, highlight_id)
            if change.add_story_ids:
                await self._copy(tx, owner, highlight_id, change.add_story_ids)
            if change.remove_item_ids:
                rows = await tx.fetch(
                    QUERIES.drop_items, highlight_id=highlight_id, item_ids=list(change.remove_item_ids)
                )
                await self._let_go(tx, rows)
            left = [row["id"] for row in await tx.fetch(QUERIES.list_items, highlight_id=highlight_id)]
            _check(left, change)
            await tx.execute(
                QUERIES.change_highlight,
                highlight_id=highlight_id,
                title=title,
                cover_item_id=change.cover_item_id,
            )
            if change.item_ids:
                await tx.execute(
                    QUERIES.order_items, highlight_id=highlight_id, item_ids=list(change.item_ids)
                )

    async def delete(self, owner: AccountId, highlight_id: HighlightId) -> None:
        """The highlight goes, and with it every picture that nothing else shows."""
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner, highlight_id)
            await self._let_go(tx, await tx.fetch(QUERIES.drop_all_items, highlight_id=highlight_id))
            await tx.execute(QUERIES.drop_highlight, highlight_id=highlight_id, account_id=owner)

    async def order(self, owner: AccountId, ids: Sequence[HighlightId]) -> None:
        """Those named come first, in this order; what is not one's own is passed over."""
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner)
            wanted = list(dict.fromkeys(ids))
            await tx.execute(QUERIES.order_highlights, account_id=owner, highlight_ids=wanted)

    async def get(self, highlight_id: HighlightId, *, viewer: AccountId | None) -> Highlight:
        """One highlight, or the refusal that a missing one gets."""
        if not has_shard(self._shards, highlight_id):
            raise HighlightNotFound
        owner = await self._shards.owner(highlight_id).fetch_value(
            QUERIES.find_highlight_owner, highlight_id=highlight_id
        )
        seen = (await self._sight.content_of(viewer, [AccountId(owner)])) if owner else {}
        found = await self._list(seen[owner], viewer, highlight_id) if owner in seen else []
        if not found:
            raise HighlightNotFound
        return found[0]

    async def of_account(self, owner: AccountId, *, viewer: AccountId | None) -> list[Highlight]:
        """Somebody's highlights in their order, with what the viewer may see of them."""
        seen = await self._sight.get(viewer, owner)
        return await self._list(seen, viewer, None) if seen.shows_content else []

    async def _list(
        self, owner: Seen, viewer: AccountId | None, highlight_id: HighlightId | None
    ) -> list[Highlight]:
        rows = await self._shards.owner(owner.account.id).fetch(
            QUERIES.list_highlights,
            account_id=owner.account.id,
            highlight_id=highlight_id,
            viewer_id=viewer or NOBODY,
        )
        mentioned = {each for row in rows for each in mention_ids(row["mentions"])}
        people = {each: one.account for each, one in (await self._sight.of(viewer, mentioned)).items()}
        return [
            Highlight(
                id=HighlightId(number),
                owner=owner,
                title=own[0]["title"],
                cover_item_id=own[0]["cover_item_id"],
                items=tuple(_item(row) for row in own),
                people=people,
            )
            for number, own in ((number, list(own)) for number, own in groupby(rows, lambda row: row["id"]))
        ]

    async def _lock(self, tx: Transaction, owner: AccountId, highlight_id: HighlightId | None = None) -> None:
        if await tx.fetch_one(QUERIES.lock_owner, author_id=owner) is None:
            raise AccountNotFound
        if highlight_id is None:
            return
        if await tx.fetch_one(QUERIES.lock_highlight, highlight_id=highlight_id, account_id=owner) is None:
            raise HighlightNotFound

    async def _copy(
        self, tx: Transaction, owner: AccountId, highlight_id: int, story_ids: Sequence[StoryId]
    ) -> dict[StoryId, ItemId]:
        wanted = set(story_ids)
        rows = await tx.fetch(
            QUERIES.copy_stories, highlight_id=highlight_id, account_id=owner, story_ids=sorted(wanted)
        )
        items = {StoryId(row["story_id"]): ItemId(row["id"]) for row in rows}
        if not wanted or wanted != items.keys():
            raise StoryNotFound
        if len(await tx.fetch(QUERIES.list_items, highlight_id=highlight_id)) > MOST_ITEMS:
            raise HighlightFull
        pictures = [MediaId(row["media_id"]) for row in rows]
        await tx.execute(QUERIES.keep_media, media_ids=pictures)
        self._forget_after(tx, pictures)
        return items

    async def _let_go(self, tx: Transaction, rows: Sequence[asyncpg.Record]) -> None:
        pictures = [MediaId(row["media_id"]) for row in rows]
        if pictures:
            ended = await tx.fetch(QUERIES.end_media, media_ids=pictures)
            await self._desk.media.delete_in(tx, [MediaId(row["id"]) for row in ended])
            self._forget_after(tx, pictures)

    def _forget_after(self, tx: Transaction, pictures: Sequence[MediaId]) -> None:
        async def forget(_server: str) -> None:
            await self._desk.media.forget_cards(pictures)

        tx.after_commit(forget)


def _title(text: str) -> str:
    title = clean(text)
    if not 1 <= len(title) <= LONGEST_TITLE:
        raise HighlightInvalid
    return title


def _check(left: Sequence[int], change: HighlightChange) -> None:
    if not left:
        raise HighlightEmpty
    if change.cover_item_id is not None and change.cover_item_id not in left:
        raise HighlightInvalid
    if change.item_ids and sorted(change.item_ids) != sorted(left):
        raise HighlightInvalid


def _item(row: asyncpg.Record) -> Item:
    return Item(
        id=ItemId(row["item_id"]),
        story_id=StoryId(row["story_id"]),
        media=read_media(row),
        audience=row["audience"],
        text=row["text"],
        mentions=read_mentions(row["mentions"]),
    )
