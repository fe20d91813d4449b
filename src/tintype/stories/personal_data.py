"""Export and erasure of what a person has published and kept, seen, voted, answered and asked to be reminded of."""

from collections.abc import AsyncIterator

import asyncpg
import msgspec

from shardwright.routing import Query
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.personal_data import ExportRecord
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import encode_elements
from tintype.stories.events import StoryRemoved
from tintype.stories.highlights import Highlights
from tintype.stories.models import HighlightId, StoryId
from tintype.stories.store import QUERIES, mention_ids
from tintype.stories.views import Views

BATCH = 100


class StoriesPersonalData:
    """One person's stories, highlights, replies and views."""

    def __init__(self, deps: StoriesDependencies, views: Views, highlights: Highlights) -> None:
        self._deps, self._views, self._highlights = deps, views, highlights
        self._shards, self._outbox = deps.shards, deps.outbox

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Stories that still have a row, highlights with their photos, replies, stories seen lately, and reminders."""
        async for row in self._pages(account_id, QUERIES.export_stories, "id"):
            about = {"story_id": str(row["id"]), "created_at": self._time(row["id"]), "text": row["text"]}
            details = {name: row[name] for name in ("audience", "alt_text", "view_count", "reaction_count")}
            mentioned = {"mention_ids": [str(each) for each in mention_ids(row)]}
            composed = {"elements": msgspec.json.decode(row["elements"]), "poll_counts": row["poll_counts"]}
            yield ExportRecord("stories.json", about | details | mentioned | composed, row["folder"])
        for highlight in await self._highlights.list_of_account(account_id, viewer=account_id):
            for item in highlight.items:
                about = {"highlight_id": str(highlight.id), "title": highlight.title}
                texts = {"story_id": str(item.story_id), "text": item.text, "alt_text": item.media.alt_text}
                details = {
                    "audience": item.audience,
                    "created_at": self._time(item.story_id),
                    "elements": msgspec.json.decode(encode_elements(item.elements)),
                    "poll_counts": item.poll_counts,
                }
                yield ExportRecord("highlights.json", about | texts | details, item.media.folder)
        async for row in self._pages(account_id, QUERIES.export_replies, "id"):
            about = {"reply_id": str(row["id"]), "story_id": str(row["story_id"])}
            yield ExportRecord(
                "story_replies.json", about | {"text": row["text"], "at": self._time(row["id"])}
            )
        async for record in self._export_seen(account_id):
            yield record
        async for row in self._pages(account_id, QUERIES.export_reminders, "story_id"):
            about = {"story_id": str(row["story_id"]), "ends_at": row["ends_at"].isoformat()}
            yield ExportRecord("story_reminders.json", about)

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of each kind, on every shard that holds some; returns how many rows went."""
        return (
            await self._erase_highlights(account_id)
            + await self._erase_stories(account_id)
            + await self._erase_views(account_id)
            + await self._erase_replies(account_id)
            + await self._erase_countdowns(account_id)
        )

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of this person are left."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_left, account_id=account_id)

    async def _erase_stories(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_of_author, account_id=account_id, limit=BATCH)
        for row in rows:
            async with shard.begin() as tx:
                await tx.fetch_one(QUERIES.lock_story, story_id=row["id"])
                erased = await tx.fetch_one(QUERIES.erase_story, story_id=row["id"])
                if erased is None:
                    continue
                await self._deps.media.delete_in(tx, [MediaId(row["media_id"])])
                event = StoryRemoved(StoryId(row["id"]), account_id, erased["change_id"], mention_ids(row))
                await self._outbox.add(tx, event)
        await self._deps.author_stories.invalidate(account_id)
        return len(rows)

    async def _erase_highlights(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.list_own_highlights, account_id=account_id, limit=BATCH)
        for row in rows:
            await self._highlights.delete(account_id, HighlightId(row["id"]))
        return len(rows)

    async def _erase_views(self, account_id: AccountId) -> int:
        """First on the authors' shards, then on the viewer's own: an interrupted run can find the rest again."""
        shard = self._shards.owner(account_id)
        rows = await shard.fetch(QUERIES.page_seen, account_id=account_id, after=0, limit=BATCH)
        ids = [StoryId(row["story_id"]) for row in rows]
        for each in ids:
            await self._views.erase(each, account_id)
        await shard.execute(QUERIES.erase_seen, account_id=account_id, ids=ids)
        return len(ids)

    async def _erase_replies(self, account_id: AccountId) -> int:
        shard = self._shards.owner(account_id)
        return len(await shard.fetch(QUERIES.erase_replies, account_id=account_id, limit=BATCH))

    async def _erase_countdowns(self, account_id: AccountId) -> int:
        """Reminders that the account asked for, and countdowns of its own stories."""
        shard = self._shards.owner(account_id)
        reminders = await shard.fetch(QUERIES.erase_reminders, account_id=account_id, limit=BATCH)
        countdowns = await shard.fetch(QUERIES.erase_countdowns, account_id=account_id, limit=BATCH)
        return len(reminders) + len(countdowns)

    async def _export_seen(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Stories seen, each with the reaction, vote and answer, which the author's shard holds."""
        shard, after = self._shards.owner(account_id), 0
        while rows := await shard.fetch(QUERIES.page_seen, account_id=account_id, after=after, limit=BATCH):
            ids = [row["story_id"] for row in rows]
            wanted = [each for each in ids if has_shard(self._shards, each)]
            gathered = await self._shards.gather(QUERIES.gather_acts, wanted, viewer_id=account_id)
            acts = {row["story_id"]: row for row in gathered.complete()}
            for each in ids:
                act = acts.get(each)
                names = ("reaction", "choice", "answer")
                done = {name: act[name] for name in names if act is not None and act[name] is not None}
                yield ExportRecord("seen_stories.json", {"story_id": str(each)} | done)
            after = ids[-1]

    async def _pages(self, account_id: AccountId, query: Query, key: str) -> AsyncIterator[asyncpg.Record]:
        shard, after = self._shards.owner(account_id), 0
        while rows := await shard.fetch(query, account_id=account_id, after=after, limit=BATCH):
            for row in rows:
                yield row
            after = rows[-1][key]

    def _time(self, id_: int) -> str:
        return self._shards.map.layout.id_time(id_).isoformat()
