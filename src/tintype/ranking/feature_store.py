"""Feature store of posts: rows in Redis, and the recently used ones as one table in this process.

A row that is a few seconds old is good enough to rank with; it is refreshed in the background. Only posts whose rows
this process has never read, or not for a minute, make a reader wait, for one round trip. Rows that Redis lacks are
computed from the posts themselves.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

import asyncpg
import numpy as np
from numpy.typing import NDArray
from redis.exceptions import RedisError

from shardwright.errors import ShardwrightError
from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import PostId
from tintype.base.log import get_log
from tintype.posts import Post, Posts
from tintype.ranking.feature_writer import FeatureWriter
from tintype.ranking.features import FeatureBuilder
from tintype.ranking.keys import CHANGED_TTL_S, POST_TTL_S, Keys
from tintype.ranking.models import PostFacts
from tintype.ranking.outcome_model import FEATURES
from tintype.ranking.row_layouts import (
    ATTRIBUTES_AT,
    MAX_TAGS,
    POST,
    Floats,
    PostColumns,
    columns,
    pack_attributes,
)
from tintype.redis.client import Command, RedisClient

log = get_log("ranking")
MAX_ROWS = 50_000
FRESH_S = 5.0
USABLE_S = 60.0
NEVER = -1e9
AWAY = (RedisError, ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What reading may raise; posts without features are ordered by their age."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class PostFeatures:
    """The features of some posts as a scorer needs them."""

    ids: NDArray[np.uint64]
    authors: NDArray[np.uint64]
    tags: NDArray[np.uint16]
    lasting: Floats


class PostFeatureStore:
    """Rows of features by post. Slot 0 of the table is the row of a post that nothing is known of."""

    def __init__(
        self,
        redis_client: RedisClient,
        keys: Keys,
        posts: Posts,
        writer: FeatureWriter,
        *,
        background_tasks: BackgroundTasks,
        builders: Sequence[FeatureBuilder] = (),
        clock: Clock = time.monotonic,
    ) -> None:
        self._redis_client, self._keys, self._posts, self._writer = redis_client, keys, posts, writer
        self._background_tasks, self._clock = background_tasks, clock
        self._slots: dict[int, int] = {}
        self._authors, self._tags = (
            np.zeros(MAX_ROWS, np.uint64),
            np.zeros((MAX_TAGS, MAX_ROWS), np.uint16),
        )
        self._numbers = np.zeros((len(columns(np.zeros(1, POST))), MAX_ROWS))
        self._ids = np.zeros(MAX_ROWS, np.uint64)
        self._builders = builders
        self._lasting = [np.zeros((MAX_ROWS, len(FEATURES)), np.float32) for _ in builders]
        self._read_at = np.full(MAX_ROWS, NEVER)
        self._next = 1
        self._refreshing: set[int] = set()

    async def get_rows(self, ids: Sequence[int]) -> PostColumns:
        """The row of each post; zeros for those that are gone, or while Redis is away."""
        slots = await self._fresh_slots(ids)
        numbers = self._numbers.take(slots, axis=1)
        return PostColumns(self._authors[slots], self._tags.take(slots, axis=1), *numbers)

    async def get_features(self, ids: Sequence[int], builder: int) -> PostFeatures:
        """The lasting features that this builder computed when the row was read, and what it needs for the others."""
        slots = await self._fresh_slots(ids)
        return PostFeatures(
            self._ids.take(slots) if np.count_nonzero(slots) == len(ids) else np.array(ids, np.uint64),
            self._authors.take(slots),
            self._tags.take(slots, axis=1),
            self._lasting[builder].take(slots, axis=0),
        )

    async def _fresh_slots(self, ids: Sequence[int]) -> NDArray[np.intp]:
        """The slots of these posts, refreshed now where they are too old to use, and in the background where not."""
        slots = self._find(ids)
        now = self._clock()
        if now - np.minimum.reduce(self._read_at.take(slots), initial=now) > FRESH_S:
            ages = (now - self._read_at[slots]).tolist()
            wanted = [each for each, age in zip(ids, ages, strict=True) if age > USABLE_S]
            if wanted:
                await self._read(wanted)
                slots = self._find(ids)
            self._refresh_in_background(
                [each for each, age in zip(ids, ages, strict=True) if FRESH_S < age <= USABLE_S]
            )
        return slots

    async def write(self, posts: Sequence[PostFacts]) -> list[bytes]:
        """Write the attributes of these posts to Redis. Their popularity is estimated only where there is none yet."""
        cadences = await self._writer.get_cadences(list({post.author_id for post in posts}))
        rows = [self._row(post, cadences[post.author_id]) for post in posts]
        commands: list[Command] = []
        for post, row in zip(posts, rows, strict=True):
            name = self._keys.post(post.id)
            commands += [
                ("SET", name, row, "NX", "EX", POST_TTL_S),
                ("SETRANGE", name, ATTRIBUTES_AT, row[ATTRIBUTES_AT:]),
                ("EXPIRE", name, POST_TTL_S),
            ]
        await self._redis_client.execute(*commands)
        return rows

    async def delete(self, post_id: PostId) -> None:
        """Delete a post's features, in Redis and in this process."""
        await self._redis_client.execute(("DEL", self._keys.post(post_id)), ("ZREM", self._keys.hot, post_id))
        self._slots.pop(post_id, None)

    async def mark_changed(self, post_id: PostId) -> None:
        """Record that a post was edited or removed, before its features are: `find_changed` knows it from then on."""
        await self._redis_client.execute(("SET", self._keys.changed(post_id), 1, "EX", CHANGED_TTL_S))

    async def find_changed(self, ids: Sequence[PostId]) -> list[PostId]:
        """Those of the posts that were edited or removed lately."""
        marks = await self._redis_client.execute(*(("EXISTS", self._keys.changed(each)) for each in ids))
        return [each for each, mark in zip(ids, marks, strict=True) if mark]

    def evict_all(self) -> None:
        """Empty the table in this process: every row is read again."""
        self._slots.clear()

    def _refresh_in_background(self, ids: list[int]) -> None:
        due = [each for each in ids if each not in self._refreshing]
        if not due:
            return
        self._refreshing.update(due)

        async def read() -> None:
            try:
                await self._read(due)
            finally:
                self._refreshing.difference_update(due)

        self._background_tasks.start(read)

    async def _read(self, ids: list[int]) -> None:
        try:
            [blobs] = await self._redis_client.execute(("MGET", *(self._keys.post(each) for each in ids)))
            found = {
                each: blob
                for each, blob in zip(ids, blobs, strict=True)
                if blob and len(blob) == POST.itemsize
            }
            found |= await self._load([PostId(each) for each in ids if each not in found])
        except AWAY as error:
            log.warning("ranking.features_unavailable", error=str(error))
            return
        self._store_rows(ids, found)

    async def _load(self, ids: list[PostId]) -> dict[int, bytes]:
        """Rows computed from the posts themselves, and written to Redis."""
        posts = list((await self._posts.find_unfiltered(ids)).values()) if ids else []
        if not posts:
            return {}
        rows = await self.write([facts_of(post) for post in posts])
        return {post.id: row for post, row in zip(posts, rows, strict=True)}

    def _store_rows(self, ids: list[int], found: dict[int, bytes]) -> None:
        now, gone = self._clock(), bytes(POST.itemsize)
        slots = np.array([self._assign_slot(each) for each in ids], np.intp)
        rows = np.frombuffer(b"".join(found.get(each, gone) for each in ids), POST)
        self._authors[slots], self._tags[:, slots] = rows["author"], rows["tags"].T
        self._numbers[:, slots] = columns(rows)
        self._read_at[slots] = now
        table = PostColumns.of(rows)
        for builder, lasting in zip(self._builders, self._lasting, strict=True):
            lasting[slots] = builder.lasting(table, time.time())

    def _find(self, ids: Sequence[int]) -> NDArray[np.intp]:
        return np.fromiter(map(self._slots.get, ids, repeat(0)), np.intp, len(ids))

    def _assign_slot(self, post_id: int) -> int:
        """The slot of a post; a new one evicts the post that was added longest ago."""
        slot = self._slots.get(post_id)
        if slot is None:
            slot = self._next
            self._next = slot + 1 if slot + 1 < MAX_ROWS else 1
            if self._slots.get(int(self._ids[slot])) == slot:
                del self._slots[int(self._ids[slot])]
            self._slots[post_id], self._ids[slot] = slot, post_id
        return slot

    def _row(self, post: PostFacts, per_day: float) -> bytes:
        """A row whose popularity assumes that all likes and comments came right after publishing."""
        popularity = np.zeros(1, POST)
        popularity["value"], popularity["at"] = post.reactions, self._writer.second_of(post.id)
        return popularity.tobytes()[:ATTRIBUTES_AT] + pack_attributes(
            post.author_id, per_day, is_video=post.is_video, is_album=post.is_album, tags=post.hashtags
        )


def facts_of(post: Post) -> PostFacts:
    """What the features of a post are computed from."""
    return PostFacts(
        id=post.id,
        author_id=post.author_id,
        hashtags=post.hashtags,
        is_video=any(item.type == "video" for item in post.media),
        is_album=len(post.media) > 1,
        reactions=(post.like_count or 0) + 2 * post.comment_count,
    )
