"""Countdowns in stories, and the reminders that viewers ask for.

A countdown may end after its story, so it has a row of its own with the author; removing or hiding the story deletes
that row, and then nobody is notified. A reminder is kept with the person who asked for it. When its time has come, by
the clock of its server, it is settled and announced in one transaction: each is announced once.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import asyncpg

from shardwright.routing import Shard, Transaction
from tintype.base.ids import AccountId, has_shard
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.base.rate_limits import STORY_VOTE
from tintype.stories.dependencies import StoriesDependencies
from tintype.stories.elements import Countdown, Element, find_element
from tintype.stories.errors import CountdownOver, OwnStory, StickerNotFound
from tintype.stories.events import CountdownEnded
from tintype.stories.live_stories import LiveStories
from tintype.stories.models import StoryId
from tintype.stories.store import QUERIES, SERVER_UNAVAILABLE

BATCH = 500
CHECK_EVERY_S = 20.0
log = get_log("stories")


async def set_countdown(
    tx: Transaction, story_id: StoryId, author_id: AccountId, elements: Sequence[Element]
) -> None:
    """Keep the countdown of a story that was published or restored, if it has one."""
    countdown = find_element(elements, Countdown)
    if countdown is not None:
        await tx.execute(
            QUERIES.add_countdown,
            story_id=story_id,
            author_id=author_id,
            title=countdown.title,
            ends_at=countdown.ends_at,
        )


async def cancel_countdown(tx: Transaction, story_id: StoryId) -> None:
    """Nobody is notified at the end of this story's countdown."""
    await tx.execute(QUERIES.delete_countdown, story_id=story_id)


class Countdowns:
    """Reminders of countdowns, and their ends."""

    def __init__(self, deps: StoriesDependencies, live: LiveStories) -> None:
        self._shards, self._outbox, self._limiter, self._live = deps.shards, deps.outbox, deps.limiter, live

    async def remind(self, story_id: StoryId, by: AccountId) -> None:
        """Notify the viewer at the end of the story's countdown, once however often they ask."""
        story = await self._live.get(story_id, viewer=by)
        countdown = find_element(story.elements, Countdown)
        if story.author_id == by:
            raise OwnStory
        if countdown is None:
            raise StickerNotFound
        if countdown.ends_at <= datetime.now(UTC):
            raise CountdownOver
        await self._limiter.acquire(STORY_VOTE, by)
        await self._shards.owner(by).execute(
            QUERIES.add_reminder, account_id=by, story_id=story_id, ends_at=countdown.ends_at
        )

    async def forget(self, story_id: StoryId, by: AccountId) -> None:
        """The viewer no longer wants to be notified."""
        await self._live.get(story_id, viewer=by)
        await self._shards.owner(by).execute(QUERIES.delete_reminder, account_id=by, story_id=story_id)

    async def find_titles(self, ids: Iterable[StoryId]) -> dict[StoryId, str]:
        """The titles of stories' countdowns that were not withdrawn; whoever calls decides who may read them."""
        wanted = [each for each in set(ids) if has_shard(self._shards, each)]
        rows = await self._shards.gather(QUERIES.gather_countdowns, wanted) if wanted else ()
        return {StoryId(row["story_id"]): row["title"] for row in rows}

    async def announce_ended(self) -> None:
        """Announce countdowns that are over to those who asked for it, on every shard."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            try:
                while len(await self._announce_batch(shard)) == BATCH:
                    pass
            except SERVER_UNAVAILABLE as error:  # what is due stays due for the next run
                log.warning("story_countdowns.not_announced", shard=number, error=str(error))

    def schedules(self) -> list[Schedule]:
        """Look for ended countdowns three times a minute."""
        return [Schedule("stories-countdowns", CHECK_EVERY_S, self.announce_ended)]

    async def _announce_batch(self, shard: Shard) -> list[asyncpg.Record]:
        due = await shard.fetch(QUERIES.list_due_reminders, limit=BATCH)
        if not due:
            return due
        story_ids = sorted({row["story_id"] for row in due})
        rows = (await self._shards.gather(QUERIES.gather_countdowns, story_ids)).complete()
        authors = {row["story_id"]: AccountId(row["author_id"]) for row in rows}
        async with shard.begin() as tx:
            settled = await tx.fetch(
                QUERIES.settle_reminders,
                account_ids=[row["account_id"] for row in due],
                story_ids=[row["story_id"] for row in due],
            )
            ended = [
                CountdownEnded(
                    StoryId(row["story_id"]), authors[row["story_id"]], AccountId(row["account_id"])
                )
                for row in settled
                if row["story_id"] in authors
            ]
            if ended:
                await self._outbox.add(tx, *ended)
        return due
