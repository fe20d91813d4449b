"""Rebuilds the search index from accounts, posts and places, while people go on searching and posting.

Nothing is emptied first. Everything is indexed again by the same code that reacts to events, so the two can run side by
side; entries that no run has touched since the start belong to nothing that exists, and are deleted at the end.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg

from shardwright.routing import Query, Shard
from tintype.base.ids import AccountId, PostId
from tintype.search.dependencies import SearchDependencies
from tintype.search.people import People
from tintype.search.places import Places
from tintype.search.store import QUERIES
from tintype.search.tags import Tags
from tintype.search.topics import PLACE, TAG, Topics

PAGE = 500
CLOCK_SKEW = timedelta(minutes=5)
"""Revisions carry the time of their shard's server; clocks may differ by less than this."""
Progress = Callable[[str, int, int], None]
"""Called with the stage, how many shards are done, and how many there are."""


class Rebuild:
    """One pass over everything that can be searched."""

    def __init__(
        self, deps: SearchDependencies, *, people: People, topics: Topics, tags: Tags, places: Places
    ) -> None:
        self._shards, self._people, self._topics = deps.shards, people, topics
        self._tags, self._places = tags, places

    async def run(self, progress: Progress) -> dict[str, int]:
        """Bring the whole index in line with the truth; safe to repeat and to interrupt. Returns counts by stage."""
        bound = self._shards.map.layout.min_id_at(datetime.now(UTC) - CLOCK_SKEW)
        done: dict[str, int] = {}
        stages: dict[str, Callable[[Shard], Awaitable[int]]] = {
            "people": self._index_people,
            "posts": self._index_posts,
            "places": self._index_places,
            "stray posts": partial(self._sweep_posts, bound=bound),
            "tags": self._index_tags,
            "stray words": partial(self._sweep_entries, bound=bound),
        }
        numbers = sorted(self._shards.map.owners)
        for stage, work in stages.items():
            for index, number in enumerate(numbers):
                progress(stage, index, len(numbers))
                done[stage] = done.get(stage, 0) + await work(self._shards.shard(number))
            progress(stage, len(numbers), len(numbers))
        return done

    async def _index_people(self, shard: Shard) -> int:
        count = 0
        async for row in _rows(shard, QUERIES.page_accounts, "id", after=0):
            await self._people.index(AccountId(row["id"]))
            count += 1
        return count

    async def _index_posts(self, shard: Shard) -> int:
        count = 0
        async for row in _rows(shard, QUERIES.page_posts, "id", after=0):
            await self._topics.index(PostId(row["id"]), AccountId(row["author_id"]))
            count += 1
        return count

    async def _index_places(self, shard: Shard) -> int:
        count = 0
        async for row in _rows(shard, QUERIES.page_places, "id", after=""):
            await self._places.index(row["id"])
            count += 1
        return count

    async def _index_tags(self, shard: Shard) -> int:
        count = 0
        async for row in _rows(shard, QUERIES.page_topics, "topic", after=""):
            if row["topic"].startswith(TAG):
                await self._tags.index(row["topic"].removeprefix(TAG))
                count += 1
            elif row["topic"].startswith(PLACE):  # also those whose own row is missing
                await self._places.index(row["topic"].removeprefix(PLACE))
        return count

    async def _sweep_posts(self, shard: Shard, *, bound: int) -> int:
        topic, post_id, swept = "", 0, 0
        while rows := await shard.fetch(
            QUERIES.list_stale_posts, bound=bound, topic=topic, post_id=post_id, limit=PAGE
        ):
            for row in rows:
                topic, post_id = row["topic"], row["post_id"]
                await self._topics.unlist(topic, PostId(post_id))
            swept += len(rows)
        return swept

    async def _sweep_entries(self, shard: Shard, *, bound: int) -> int:
        swept = 0
        for query in (QUERIES.sweep_entries, QUERIES.sweep_captions):
            while gone := await shard.execute(query, bound=bound, limit=PAGE):
                swept += gone
        return swept


async def _rows(shard: Shard, query: Query, key: str, *, after: int | str) -> AsyncIterator[asyncpg.Record]:
    """All rows of a query that pages by a key, from `after` on."""
    while rows := await shard.fetch(query, after=after, limit=PAGE):
        for row in rows:
            yield row
        after = rows[-1][key]
