"""Builds the index anew from accounts, posts and places, while people go on searching and posting.

Nothing is emptied first. Everything is filed again by the same code that follows events, so the two can run side by
side; what no run has touched since the start belongs to nothing that exists, and is swept out at the end.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from shardwright.running import Shard, Shards
from tintype.base.ids import AccountId, PostId
from tintype.search.filing import QUERIES
from tintype.search.people import People
from tintype.search.places import Places
from tintype.search.tags import Tags
from tintype.search.topics import TAG, Topics

PAGE = 500
CLOCKS = timedelta(minutes=5)
"""Revisions carry the time of their shard's server; clocks may differ by less than this."""
Progress = Callable[[str, int, int], None]
"""Told the stage, how many shards are done, and how many there are."""


class Rebuild:
    """One pass over everything that can be found."""

    def __init__(self, shards: Shards, *, people: People, topics: Topics, tags: Tags, places: Places) -> None:
        self._shards, self._people, self._topics = shards, people, topics
        self._tags, self._places = tags, places

    async def run(self, progress: Progress) -> dict[str, int]:
        """The index says what is true; safe to repeat and to interrupt. Returns how many of each there were."""
        bound = self._shards.map.layout.min_id_at(datetime.now(UTC) - CLOCKS)
        done: dict[str, int] = {}
        stages: dict[str, Callable[[Shard], Awaitable[int]]] = {
            "people": self._file_people,
            "posts": self._file_posts,
            "places": self._file_places,
            "stray posts": partial(self._sweep_posts, bound=bound),
            "tags": self._file_tags,
            "stray words": partial(self._sweep_entries, bound=bound),
        }
        numbers = sorted(self._shards.map.owners)
        for stage, work in stages.items():
            for index, number in enumerate(numbers):
                progress(stage, index, len(numbers))
                done[stage] = done.get(stage, 0) + await work(self._shards.shard(number))
            progress(stage, len(numbers), len(numbers))
        return done

    async def _file_people(self, shard: Shard) -> int:
        after = count = 0
        while rows := await shard.fetch(QUERIES.page_accounts, after=after, limit=PAGE):
            for row in rows:
                after = row["id"]
                await self._people.file(AccountId(after))
            count += len(rows)
        return count

    async def _file_posts(self, shard: Shard) -> int:
        after = count = 0
        while rows := await shard.fetch(QUERIES.page_posts, after=after, limit=PAGE):
            for row in rows:
                after = row["id"]
                await self._topics.file(PostId(after), AccountId(row["author_id"]))
            count += len(rows)
        return count

    async def _file_places(self, shard: Shard) -> int:
        after, count = "", 0
        while rows := await shard.fetch(QUERIES.page_places, after=after, limit=PAGE):
            for row in rows:
                after = row["id"]
                await self._places.file(after)
            count += len(rows)
        return count

    async def _file_tags(self, shard: Shard) -> int:
        after, count = "", 0
        while rows := await shard.fetch(QUERIES.page_topics, after=after, limit=PAGE):
            for row in rows:
                after = row["topic"]
                if after.startswith(TAG):
                    await self._tags.file(after.removeprefix(TAG))
                    count += 1
        return count

    async def _sweep_posts(self, shard: Shard, *, bound: int) -> int:
        topic, post_id, swept = "", 0, 0
        while rows := await shard.fetch(
            QUERIES.stray_posts, bound=bound, topic=topic, post_id=post_id, limit=PAGE
        ):
            for row in rows:
                topic, post_id = row["topic"], row["post_id"]
                await self._topics.unlist(topic, PostId(post_id))
            swept += len(rows)
        return swept

    async def _sweep_entries(self, shard: Shard, *, bound: int) -> int:
        swept = 0
        while gone := await shard.execute(QUERIES.sweep_entries, bound=bound, limit=PAGE):
            swept += gone
        return swept
