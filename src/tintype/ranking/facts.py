"""What is known of posts: rows in Redis, and the ones used lately in this process as one table.

A row that is a few seconds old is good enough to order posts with. It is then read anew behind the reader's back; only
posts that this process has never met, or not for long, make a reader wait, for one round trip. Rows that Redis lacks
are made anew from the posts themselves.
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
from tintype.base.errands import Errands
from tintype.base.ids import PostId
from tintype.base.log import get_log
from tintype.base.wire import Command, Wire
from tintype.posts import Post, Posts
from tintype.ranking.features import Features
from tintype.ranking.keys import KEEP_POST_S, Keys
from tintype.ranking.notes import Notes
from tintype.ranking.rows import FACTS_AT, MOST_TAGS, POST, Floats, columns, pack_facts
from tintype.ranking.rows import Posts as Rows
from tintype.ranking.scorer import FEATURES

log = get_log("ranking")
MOST_HERE = 50_000
FRESH_S = 5.0
USABLE_S = 60.0
NEVER = -1e9
AWAY = (RedisError, ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What reading may meet; posts of which nothing is known are ordered by their age."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class Looked:
    """Some posts as a judge needs them."""

    ids: NDArray[np.uint64]
    authors: NDArray[np.uint64]
    tags: NDArray[np.uint16]
    lasting: Floats


class Facts:
    """The rows of posts. Slot 0 of the table is the row of a post that nothing is known of."""

    def __init__(
        self,
        wire: Wire,
        keys: Keys,
        posts: Posts,
        notes: Notes,
        *,
        errands: Errands,
        builders: Sequence[Features] = (),
        clock: Clock = time.monotonic,
    ) -> None:
        self._wire, self._keys, self._posts, self._notes = wire, keys, posts, notes
        self._errands, self._clock = errands, clock
        self._slots: dict[int, int] = {}
        self._authors, self._tags = (
            np.zeros(MOST_HERE, np.uint64),
            np.zeros((MOST_TAGS, MOST_HERE), np.uint16),
        )
        self._numbers = np.zeros((len(columns(np.zeros(1, POST))), MOST_HERE))
        self._ids = np.zeros(MOST_HERE, np.uint64)
        self._builders = builders
        self._lasting = [np.zeros((MOST_HERE, len(FEATURES)), np.float32) for _ in builders]
        self._read_at = np.full(MOST_HERE, NEVER)
        self._next = 1
        self._under_way: set[int] = set()

    async def of(self, ids: Sequence[int]) -> Rows:
        """A row for each post; zeros for those that are gone, or while Redis is away."""
        slots = await self._ready(ids)
        numbers = self._numbers.take(slots, axis=1)
        return Rows(self._authors[slots], self._tags.take(slots, axis=1), *numbers)

    async def look_up(self, ids: Sequence[int], builder: int) -> Looked:
        """What a builder of features said of each post when its row was read, and what it needs to go on."""
        slots = await self._ready(ids)
        return Looked(
            self._ids.take(slots) if slots.all() else np.array(ids, np.uint64),
            self._authors.take(slots),
            self._tags.take(slots, axis=1),
            self._lasting[builder].take(slots, axis=0),
        )

    async def _ready(self, ids: Sequence[int]) -> NDArray[np.intp]:
        slots = self._find(ids)
        now = self._clock()
        if now - self._read_at.take(slots).min(initial=now) > FRESH_S:
            ages = (now - self._read_at[slots]).tolist()
            wanted = [each for each, age in zip(ids, ages, strict=True) if age > USABLE_S]
            if wanted:
                await self._read(wanted)
                slots = self._find(ids)
            self._freshen([each for each, age in zip(ids, ages, strict=True) if FRESH_S < age <= USABLE_S])
        return slots

    async def write(self, posts: Sequence[Post]) -> list[bytes]:
        """Put the facts of these posts into Redis. How much is going on there is guessed only where nobody knows."""
        paces = await self._notes.paces(list({post.author_id for post in posts}))
        rows = [self._row(post, paces[post.author_id]) for post in posts]
        commands: list[Command] = []
        for post, row in zip(posts, rows, strict=True):
            name = self._keys.post(post.id)
            commands += [
                ("SET", name, row, "NX", "EX", KEEP_POST_S),
                ("SETRANGE", name, FACTS_AT, row[FACTS_AT:]),
                ("EXPIRE", name, KEEP_POST_S),
            ]
        await self._wire.ask(*commands)
        return rows

    async def drop(self, post_id: PostId) -> None:
        """Forget a post, here and in Redis."""
        await self._wire.ask(("DEL", self._keys.post(post_id)), ("ZREM", self._keys.hot, post_id))
        self._slots.pop(post_id, None)

    def forget(self) -> None:
        """Read everything anew in this process."""
        self._slots.clear()

    def _freshen(self, ids: list[int]) -> None:
        due = [each for each in ids if each not in self._under_way]
        if not due:
            return
        self._under_way.update(due)

        async def read() -> None:
            try:
                await self._read(due)
            finally:
                self._under_way.difference_update(due)

        self._errands.start(read)

    async def _read(self, ids: list[int]) -> None:
        try:
            [blobs] = await self._wire.ask(("MGET", *(self._keys.post(each) for each in ids)))
            found = {
                each: blob
                for each, blob in zip(ids, blobs, strict=True)
                if blob and len(blob) == POST.itemsize
            }
            found |= await self._load([PostId(each) for each in ids if each not in found])
        except AWAY as error:
            log.warning("ranking.facts_unavailable", error=str(error))
            return
        self._keep(ids, found)

    async def _load(self, ids: list[PostId]) -> dict[int, bytes]:
        """Rows made from the posts themselves, with what Redis knows of them meanwhile."""
        posts = list((await self._posts.find_any(ids)).values()) if ids else []
        if not posts:
            return {}
        rows = await self.write(posts)
        return {post.id: row for post, row in zip(posts, rows, strict=True)}

    def _keep(self, ids: list[int], found: dict[int, bytes]) -> None:
        now, gone = self._clock(), bytes(POST.itemsize)
        slots = np.array([self._take_slot(each) for each in ids], np.intp)
        rows = np.frombuffer(b"".join(found.get(each, gone) for each in ids), POST)
        self._authors[slots], self._tags[:, slots] = rows["author"], rows["tags"].T
        self._numbers[:, slots] = columns(rows)
        self._read_at[slots] = now
        table = Rows.of(rows)
        for builder, lasting in zip(self._builders, self._lasting, strict=True):
            lasting[slots] = builder.lasting(table, time.time())

    def _find(self, ids: Sequence[int]) -> NDArray[np.intp]:
        return np.fromiter(map(self._slots.get, ids, repeat(0)), np.intp, len(ids))

    def _take_slot(self, post_id: int) -> int:
        """The slot of a post; a new one pushes out the post that came longest ago."""
        slot = self._slots.get(post_id)
        if slot is None:
            slot = self._next
            self._next = slot + 1 if slot + 1 < MOST_HERE else 1
            if self._slots.get(int(self._ids[slot])) == slot:
                del self._slots[int(self._ids[slot])]
            self._slots[post_id], self._ids[slot] = slot, post_id
        return slot

    def _row(self, post: Post, per_day: float) -> bytes:
        """Without anything better, all likes and comments are taken to have come right after publishing."""
        pulse = np.zeros(1, POST)
        pulse["value"], pulse["at"] = (
            (post.like_count or 0) + 2 * post.comment_count,
            self._notes.second(post.id),
        )
        return pulse.tobytes()[:FACTS_AT] + facts_of(post, per_day)


def facts_of(post: Post, per_day: float) -> bytes:
    """What does not fade about a post."""
    return pack_facts(
        post.author_id,
        per_day,
        is_video=any(item.type == "video" for item in post.media),
        is_album=len(post.media) > 1,
        tags=post.hashtags,
    )
