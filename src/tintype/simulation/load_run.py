"""Executes the planned day against real rooms, at the chosen speed, and measures what users would notice.

Open-loop load: actions start when the plan says so, not when the previous one has finished; otherwise slow responses
would reduce the load and the slowest moments would be measured least. Concurrency is bounded, and the resulting delay
is measured.
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
from tintype.simulation.models import Action
from tintype.simulation.plan import DayPlan
from tintype.wiring import Rooms

Show: TypeAlias = Callable[[int, int], None]
"""Called with how much is done and the total."""
MAX_CONCURRENT = 64
PAGE = 20
WATCHED_PAGE = 50
"""How many posts a watcher reads: others post meanwhile."""
FIRST_POLL_S, POLL_GROWTH, MAX_POLL_S = 0.02, 1.3, 0.5
WATCH_TIMEOUT_S = 30.0
FAILURES = (TintypeError, ShardwrightError, PostgresError, RedisError, OSError)


@dataclass
class Measurements:
    """Measurements of one run."""

    published: dict[PostId, int] = field(default_factory=dict[PostId, int])
    """Author's number by post."""
    reads: int = 0
    failed: int = 0
    unseen: int = 0
    read_ms: list[float] = field(default_factory=list[float])
    fresh_ms: list[float] = field(default_factory=list[float])
    late_ms: list[float] = field(default_factory=list[float])


class LoadRun:
    """One run of a plan in one installation."""

    def __init__(
        self, rooms: Rooms, plan: DayPlan, ids: list[AccountId], pictures: dict[AccountId, list[MediaId]]
    ) -> None:
        self._rooms, self._plan, self._ids, self._pictures = rooms, plan, ids, pictures
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)
        self.measured = Measurements()

    async def warm_up(self, show: Show) -> None:
        """Let every reader read once, so that the run starts with warm timelines."""
        readers = self._plan.readers
        waiting, done = iter(readers), 0

        async def read_next() -> None:
            nonlocal done
            for number in waiting:
                await self._read(self._ids[number], PAGE)
                done += 1
                show(done, len(readers))

        await asyncio.gather(*(read_next() for _ in range(8)))

    async def execute(self, show: Show) -> Measurements:
        """Execute every action of the plan; returns once every watcher has seen their post or timed out."""
        actions, speed, begin = self._plan.actions, self._plan.choices.speed, time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for index, action in enumerate(actions):
                due = begin + action.at_s / speed
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                await self._slots.acquire()
                self.measured.late_ms.append((time.perf_counter() - due) * 1000)
                group.create_task(self._perform(group, index, action))
                show(index + 1, len(actions))
        return self.measured

    async def _perform(self, group: asyncio.TaskGroup, index: int, action: Action) -> None:
        try:
            if action.kind == "read":
                await self._timed_read(self._ids[action.person])
            else:
                post_id, at = await self._publish(action.person)
                watcher = self._plan.watchers.get(index)
                if watcher is not None:
                    group.create_task(self._watch(self._ids[watcher], post_id, at))
        except FAILURES:
            self.measured.failed += 1
        finally:
            self._slots.release()

    async def _timed_read(self, reader: AccountId) -> None:
        started = time.perf_counter()
        await self._read(reader, PAGE)
        self.measured.read_ms.append((time.perf_counter() - started) * 1000)
        self.measured.reads += 1

    async def _publish(self, number: int) -> tuple[PostId, float]:
        author = self._ids[number]
        post_id = await self._rooms.posts.publish(author, [self._pictures[author].pop()], caption="simulated")
        self.measured.published[post_id] = number
        return post_id, time.perf_counter()

    async def _watch(self, watcher: AccountId, post_id: PostId, published_at: float) -> None:
        """Poll the follower's feed until the post shows, with growing pauses so that polling is no load itself."""
        pause_s = FIRST_POLL_S
        while time.perf_counter() - published_at < WATCH_TIMEOUT_S:
            try:
                if post_id in await self._read(watcher, WATCHED_PAGE, newest=True):
                    self.measured.fresh_ms.append((time.perf_counter() - published_at) * 1000)
                    return
            except FAILURES:
                self.measured.failed += 1
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * POLL_GROWTH, MAX_POLL_S)
        self.measured.unseen += 1

    async def _read(self, reader: AccountId, limit: int, *, newest: bool = False) -> set[PostId]:
        page = await self._rooms.feed.read(
            reader, mode="following" if newest else "ranked", cursor=None, limit=limit
        )
        return {entry.id for entry in page.entries}
