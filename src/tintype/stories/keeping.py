"""What remains and what goes: pictures of ended stories, old replies, exports, and whoever leaves."""

from collections.abc import AsyncIterator

import asyncpg

from shardwright.running import Query
from tintype.base.belongings import Record
from tintype.base.ids import AccountId, MediaId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.stories.events import StoryRemoved
from tintype.stories.highlights import Highlights
from tintype.stories.models import HighlightId, StoryId
from tintype.stories.seeing import Seeing
from tintype.stories.store import QUERIES, AtDesk, Desk, mention_ids

BATCH = 100
GRACE_S = 3_600.0
"""Whoever began to look at a story in its last second may finish."""
SWEEP_EVERY_S = 600.0
KEEP_REPLIES_DAYS = 90
LARGEST_PICTURE = "1080.jpg"
log = get_log("stories")


class Keeping(AtDesk):
    """The end of stories."""

    def __init__(self, desk: Desk, seeing: Seeing, highlights: Highlights) -> None:
        super().__init__(desk)
        self._seeing, self._highlights = seeing, highlights

    async def sweep(self) -> None:
        """Pictures go an hour after their story's end; replies when nothing shows them any more."""
        swept = 0
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.list_ended_media, grace_s=GRACE_S, limit=BATCH):
                swept += await self._desk.media.delete([MediaId(row["id"]) for row in rows])
            while await shard.fetch(QUERIES.sweep_replies, days=KEEP_REPLIES_DAYS, limit=BATCH):
                pass
        if swept:
            log.info("stories.swept", media=swept)

    def schedules(self) -> list[Schedule]:
        """What ends by the clock."""
        return [Schedule("stories-sweep", SWEEP_EVERY_S, self.sweep)]

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """Stories of these days, highlights with their pictures, replies, and what was seen lately."""
        async for row in self._pages(account_id, QUERIES.export_stories, "id"):
            about = {"story_id": str(row["id"]), "created_at": self._time(row["id"]), "text": row["text"]}
            told = {name: row[name] for name in ("audience", "alt_text", "view_count", "reaction_count")}
            mentioned = {"mention_ids": [str(each) for each in mention_ids(row["mentions"])]}
            yield Record("stories.json", about | told | mentioned, _picture(row["folder"]))
        for highlight in await self._highlights.of_account(account_id, viewer=account_id):
            for item in highlight.items:
                about = {"highlight_id": str(highlight.id), "title": highlight.title}
                told = {"story_id": str(item.story_id), "text": item.text, "alt_text": item.media.alt_text}
                made = {"audience": item.audience, "created_at": self._time(item.story_id)}
                yield Record("highlights.json", about | told | made, _picture(item.media.folder))
        async for row in self._pages(account_id, QUERIES.export_replies, "id"):
            about = {"reply_id": str(row["id"]), "story_id": str(row["story_id"])}
            yield Record("story_replies.json", about | {"text": row["text"], "at": self._time(row["id"])})
        async for row in self._pages(account_id, QUERIES.page_seen, "story_id"):
            yield Record("seen_stories.json", {"story_id": str(row["story_id"])})

    async def erase(self, account_id: AccountId) -> int:
        """Let go of some of it, wherever it lies."""
        return (
            await self._erase_highlights(account_id)
            + await self._erase_stories(account_id)
            + await self._erase_seen(account_id)
            + await self._erase_replies(account_id)
        )

    async def count_left(self, account_id: AccountId) -> int:
        """How much of it there still is."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)

    async def _erase_stories(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_of_author, account_id=account_id, limit=BATCH)
        for row in rows:
            async with shard.begin() as tx:
                await tx.fetch_one(QUERIES.lock_story, story_id=row["id"])
                gone = await tx.fetch_one(QUERIES.erase_story, story_id=row["id"])
                if gone is None:
                    continue
                await self._desk.media.delete_in(tx, [MediaId(row["media_id"])])
                event = StoryRemoved(
                    StoryId(row["id"]), account_id, gone["change_id"], mention_ids(row["mentions"])
                )
                await self._outbox.add(tx, event)
        await self._desk.rings.forget(account_id)
        return len(rows)

    async def _erase_highlights(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_own_highlights, account_id=account_id, limit=BATCH)
        for row in rows:
            await self._highlights.delete(account_id, HighlightId(row["id"]))
        return len(rows)

    async def _erase_seen(self, account_id: AccountId) -> int:
        """First with the authors, then here: what is interrupted can be found again."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.page_seen, account_id=account_id, after=0, limit=BATCH)
        ids = [StoryId(row["story_id"]) for row in rows]
        for each in ids:
            await self._seeing.unsee(each, account_id)
        await shard.execute(QUERIES.forget_seen, account_id=account_id, ids=ids)
        return len(ids)

    async def _erase_replies(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        return len(await shard.fetch(QUERIES.forget_replies, account_id=account_id, limit=BATCH))

    async def _pages(self, account_id: AccountId, query: Query, place: str) -> AsyncIterator[asyncpg.Record]:
        shard, after = self._shards.owner(account_id), 0
        while rows := await shard.fetch(query, account_id=account_id, after=after, limit=BATCH):
            for row in rows:
                yield row
            after = rows[-1][place]

    def _time(self, id_: int) -> str:
        return self._shards.map.layout.id_time(id_).isoformat()


def _picture(folder: str | None) -> str | None:
    return f"{folder}/{LARGEST_PICTURE}" if folder else None
