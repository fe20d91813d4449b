"""Highlights: copies of an author's stories that stay on the profile after the stories' partitions are dropped.

Only a live story can be copied; there is no archive of past ones. The copy shares the story's media: the first copy
lifts their expiry, and deleting the last one sets it again, or deletes them if the story has ended.
"""

from collections.abc import Sequence
from itertools import groupby

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.text import clean_line
from tintype.graph import VisibleAccount
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import shared_post_ids
from tintype.stories.errors import (
    HighlightEmpty,
    HighlightFull,
    HighlightInvalid,
    HighlightNotFound,
    StoryNotFound,
)
from tintype.stories.live_stories import GUEST_ID
from tintype.stories.models import (
    LIFETIME,
    LONGEST_TITLE,
    MAX_HIGHLIGHTS,
    MAX_ITEMS,
    Highlight,
    HighlightChange,
    HighlightId,
    HighlightItem,
    HighlightItemId,
    StoryId,
)
from tintype.stories.shared_posts import SharedPosts
from tintype.stories.store import (
    QUERIES,
    is_visible,
    mention_ids,
    read_elements,
    read_media,
    read_mentions,
)


class Highlights:
    """Highlights of accounts; changes by one owner wait for each other, under the lock of the account's row."""

    def __init__(self, deps: StoriesDependencies, shared_posts: SharedPosts) -> None:
        self._shards, self._visibility, self._media = deps.shards, deps.visibility, deps.media
        self._shared_posts = shared_posts

    async def create(
        self, owner: AccountId, title: str, story_ids: Sequence[StoryId], *, cover: StoryId | None = None
    ) -> HighlightId:
        """Copy live stories into a new highlight, which comes first on the profile."""
        title = _checked_title(title)
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner)
            counted = await tx.fetch_one(QUERIES.count_highlights, account_id=owner)
            if counted is None or counted["highlights"] >= MAX_HIGHLIGHTS:
                raise HighlightFull
            highlight_id = await tx.fetch_value(
                QUERIES.add_highlight, account_id=owner, title=title, position=counted["position"]
            )
            items = await self._copy(tx, owner, highlight_id, story_ids)
            if cover is not None:
                if cover not in items:
                    raise StoryNotFound
                await tx.execute(
                    QUERIES.change_highlight,
                    highlight_id=highlight_id,
                    title=None,
                    cover_item_id=items[cover],
                )
        return HighlightId(highlight_id)

    async def change(self, owner: AccountId, highlight_id: HighlightId, change: HighlightChange) -> None:
        """Change title, cover and order, add stories and remove items, all in one transaction."""
        title = None if change.title is None else _checked_title(change.title)
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner, highlight_id)
            if change.add_story_ids:
                await self._copy(tx, owner, highlight_id, change.add_story_ids)
            if change.remove_item_ids:
                rows = await tx.fetch(
                    QUERIES.delete_items, highlight_id=highlight_id, item_ids=list(change.remove_item_ids)
                )
                await self._release_media(tx, rows)
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
        """Delete the highlight, and its media unless a live story or another highlight shows them."""
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner, highlight_id)
            await self._release_media(tx, await tx.fetch(QUERIES.delete_all_items, highlight_id=highlight_id))
            await tx.execute(QUERIES.delete_highlight, highlight_id=highlight_id, account_id=owner)

    async def order(self, owner: AccountId, ids: Sequence[HighlightId]) -> None:
        """Put these highlights first, in this order; ids of other people's highlights are ignored."""
        async with self._shards.owner(owner).begin() as tx:
            await self._lock(tx, owner)
            wanted = list(dict.fromkeys(ids))
            await tx.execute(QUERIES.order_highlights, account_id=owner, highlight_ids=wanted)

    async def get(self, highlight_id: HighlightId, *, viewer: AccountId | None) -> Highlight:
        """One highlight; one that may not be seen is refused like one that does not exist."""
        if not has_shard(self._shards, highlight_id):
            raise HighlightNotFound
        owner = await self._shards.owner(highlight_id).fetch_value(
            QUERIES.find_highlight_owner, highlight_id=highlight_id
        )
        visible = (await self._visibility.find_content_owners(viewer, [AccountId(owner)])) if owner else {}
        found = await self._list(visible[owner], viewer, highlight_id) if owner in visible else []
        if not found:
            raise HighlightNotFound
        return found[0]

    async def list_of_account(self, owner: AccountId, *, viewer: AccountId | None) -> list[Highlight]:
        """An account's highlights in the owner's order, with the items the viewer may see."""
        account = await self._visibility.get_account(viewer, owner)
        return await self._list(account, viewer, None) if account.shows_content else []

    async def _list(
        self, owner: VisibleAccount, viewer: AccountId | None, highlight_id: HighlightId | None
    ) -> list[Highlight]:
        found = await self._shards.owner(owner.account.id).fetch(
            QUERIES.list_highlights,
            account_id=owner.account.id,
            highlight_id=highlight_id,
            viewer_id=viewer or GUEST_ID,
        )
        rows = [row for row in found if is_visible(row, viewer)]
        mentioned = {each for row in rows for each in mention_ids(row)}
        visible = await self._visibility.find_accounts(viewer, mentioned)
        people = {each: one.account for each, one in visible.items()}
        posts = await self._shared_posts.find(
            (each for row in rows for each in shared_post_ids(read_elements(row))), viewer=viewer
        )
        return [
            Highlight(
                id=HighlightId(number),
                owner=owner,
                title=own[0]["title"],
                cover_item_id=own[0]["cover_item_id"],
                items=tuple(_item(row) for row in own),
                people=people,
                posts=posts,
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
    ) -> dict[StoryId, HighlightItemId]:
        wanted = set(story_ids)
        await tx.fetch(QUERIES.lock_stories, account_id=owner, story_ids=sorted(wanted))
        rows = await tx.fetch(
            QUERIES.copy_stories, highlight_id=highlight_id, account_id=owner, story_ids=sorted(wanted)
        )
        items = {StoryId(row["story_id"]): HighlightItemId(row["id"]) for row in rows}
        if not wanted or wanted != items.keys():
            raise StoryNotFound
        if len(await tx.fetch(QUERIES.list_items, highlight_id=highlight_id)) > MAX_ITEMS:
            raise HighlightFull
        media_ids = [MediaId(row["media_id"]) for row in rows]
        await self._media.set_lifetime(tx, media_ids, None)
        self._invalidate_after(tx, media_ids)
        return items

    async def _release_media(self, tx: Transaction, rows: Sequence[asyncpg.Record]) -> None:
        """Media that no highlight shows any more end with their story, or are deleted if it has ended."""
        if not rows:
            return
        media_ids = [MediaId(row["media_id"]) for row in rows]
        story_ids = [row["story_id"] for row in rows]
        unused = await tx.fetch(QUERIES.list_unused_media, media_ids=media_ids, story_ids=story_ids)
        live = [MediaId(row["media_id"]) for row in unused if row["is_live"]]
        if live:
            await self._media.set_lifetime(tx, live, LIFETIME)
        await self._media.delete_in(tx, [MediaId(row["media_id"]) for row in unused if not row["is_live"]])
        self._invalidate_after(tx, media_ids)

    def _invalidate_after(self, tx: Transaction, media_ids: Sequence[MediaId]) -> None:
        """The cached access records of the media are invalidated once the transaction has committed."""

        async def invalidate(_server: str) -> None:
            await self._media.invalidate(media_ids)

        tx.after_commit(invalidate)


def _checked_title(text: str) -> str:
    title = clean_line(text)
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


def _item(row: asyncpg.Record) -> HighlightItem:
    return HighlightItem(
        id=HighlightItemId(row["item_id"]),
        story_id=StoryId(row["story_id"]),
        media=read_media(row),
        audience=row["audience"],
        text=row["text"],
        mentions=read_mentions(row["mentions"]),
        is_hidden=row["is_hidden"],
        elements=read_elements(row),
        poll_counts=None if row["poll_counts"] is None else tuple(row["poll_counts"]),
    )
