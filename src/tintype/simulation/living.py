"""Lives the planned day on real rooms, at the chosen speed, and measures what people would notice.

Deeds begin when the plan says so, not when the one before has ended: a slow answer must not slow the people down, or
the slowest moments would be the least measured. Only so many are under way at once; how late that makes them is told.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from asyncpg import PostgresError
from redis.exceptions import RedisError

from shardwright.errors import ShardwrightError
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.simulation.models import Act
from tintype.simulation.plan import Plan
from tintype.wiring import Rooms

Show: TypeAlias = Callable[[int, int], None]
"""Told how much is done and how much there is."""
AT_ONCE = 64
PAGE = 20
WATCHED = 50
"""How far down a watcher looks: others post meanwhile."""
FIRST_LOOK_S, LOOK_GROWTH, SLOWEST_LOOK_S = 0.02, 1.3, 0.5
PATIENCE_S = 30.0
TROUBLE = (TintypeError, ShardwrightError, PostgresError, RedisError, OSError)


@dataclass
class Measured:
    """What was seen while living."""

    published: dict[PostId, int] = field(default_factory=dict[PostId, int])
    """Posts, by whom."""
    reads: int = 0
    failed: int = 0
    unseen: int = 0
    read_ms: list[float] = field(default_factory=list[float])
    fresh_ms: list[float] = field(default_factory=list[float])
    late_ms: list[float] = field(default_factory=list[float])


class Day:
    """One day of one plan in one installation."""

    def __init__(
        self, rooms: Rooms, plan: Plan, ids: list[AccountId], pictures: dict[AccountId, list[MediaId]]
    ) -> None:
        self._rooms, self._plan, self._ids, self._pictures = rooms, plan, ids, pictures
        self._slots = asyncio.Semaphore(AT_ONCE)
        self.seen = Measured()

    async def wake(self, show: Show) -> None:
        """Everybody who reads has read before, so that the day begins with the timelines of an ordinary one."""
        readers = self._plan.readers
        waiting, done = iter(readers), 0

        async def one_by_one() -> None:
            nonlocal done
            for number in waiting:
                await self._read(self._ids[number], PAGE)
                done += 1
                show(done, len(readers))

        await asyncio.gather(*(one_by_one() for _ in range(8)))

    async def live(self, show: Show) -> Measured:
        """Everything in the plan has happened, and every watcher has seen their post or given up."""
        acts, speed, begin = self._plan.acts, self._plan.choices.speed, time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for place, act in enumerate(acts):
                due = begin + act.at_s / speed
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                await self._slots.acquire()
                self.seen.late_ms.append((time.perf_counter() - due) * 1000)
                group.create_task(self._do(group, place, act))
                show(place + 1, len(acts))
        return self.seen

    async def _do(self, group: asyncio.TaskGroup, place: int, act: Act) -> None:
        try:
            if act.deed == "read":
                await self._look(self._ids[act.person])
            else:
                post_id, at = await self._publish(act.person)
                watcher = self._plan.watchers.get(place)
                if watcher is not None:
                    group.create_task(self._watch(self._ids[watcher], post_id, at))
        except TROUBLE:
            self.seen.failed += 1
        finally:
            self._slots.release()

    async def _look(self, reader: AccountId) -> None:
        started = time.perf_counter()
        await self._read(reader, PAGE)
        self.seen.read_ms.append((time.perf_counter() - started) * 1000)
        self.seen.reads += 1

    async def _publish(self, number: int) -> tuple[PostId, float]:
        author = self._ids[number]
        post_id = await self._rooms.posts.publish(author, [self._pictures[author].pop()], caption="simulated")
        self.seen.published[post_id] = number
        return post_id, time.perf_counter()

    async def _watch(self, watcher: AccountId, post_id: PostId, published_at: float) -> None:
        """Look again and again, ever more slowly, so that watching is not what keeps the servers busy."""
        pause_s = FIRST_LOOK_S
        while time.perf_counter() - published_at < PATIENCE_S:
            try:
                if post_id in await self._read(watcher, WATCHED, newest=True):
                    self.seen.fresh_ms.append((time.perf_counter() - published_at) * 1000)
                    return
            except TROUBLE:
                self.seen.failed += 1
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * LOOK_GROWTH, SLOWEST_LOOK_S)
        self.seen.unseen += 1

    async def _read(self, reader: AccountId, limit: int, *, newest: bool = False) -> set[PostId]:
        page = await self._rooms.feed.read(
            reader, mode="following" if newest else "ranked", cursor=None, limit=limit
        )
        return {entry.id for entry in page.entries}
