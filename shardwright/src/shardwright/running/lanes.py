"""Lanes: the shards of a server dealt out to groups of connections, so that no backend touches them all."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardwright.running.links import Link


class Waiter:
    """Somebody who waits for a connection; gets one, or None to look again."""

    __slots__ = ("future", "since")

    def __init__(self, since: float) -> None:
        self.since = since
        self.future: asyncio.Future[Link | None] = asyncio.get_running_loop().create_future()


class Lane:
    """Some shards, the idle connections that serve them, and who waits for one."""

    __slots__ = ("idle", "shards", "size", "touch_limit", "waiters")

    def __init__(self, touch_limit: int) -> None:
        self.touch_limit = touch_limit
        self.shards: set[int] = set()
        self.idle: list[Link] = []
        self.size = 0  # open or being opened
        self.waiters: deque[Waiter] = deque()

    def is_full(self, link: "Link") -> bool:
        """Whether a connection has touched as many shards as it may, with others still to come."""
        return len(link.touched) >= self.touch_limit and len(self.shards) > self.touch_limit

    def hand_over(self, link: "Link") -> None:
        """Give a free connection to who waited longest, or keep it."""
        while self.waiters:
            future = self.waiters.popleft().future
            if not future.done():
                future.set_result(link)
                return
        self.idle.append(link)

    def wake(self) -> None:
        """Let who waited longest look again: a place became free."""
        while self.waiters:
            future = self.waiters.popleft().future
            if not future.done():
                future.set_result(None)
                return

    def fail(self, error: Exception) -> None:
        """Everyone who waits learns why it is in vain."""
        self.give_up(float("inf"), lambda: error)

    def give_up(self, since: float, reason: Callable[[], Exception]) -> None:
        """Those who have waited since then, or longer, learn why it is in vain."""
        for waiter in [waiter for waiter in self.waiters if waiter.since <= since]:
            self.waiters.remove(waiter)
            if not waiter.future.done():
                waiter.future.set_exception(reason())


class Lanes:
    """As many lanes as shards need, each shard in one of them for as long as it stays on the server."""

    def __init__(self, *, shards_per_lane: int, max_lanes: int) -> None:
        self._shards_per_lane = shards_per_lane
        self._max_lanes = max_lanes
        self.all = [Lane(shards_per_lane)]
        self._lane_of: dict[int, Lane] = {}

    def of(self, number: int) -> Lane:
        """The lane of a shard, also of one this server does not hold according to the map."""
        return self._lane_of.get(number) or self.all[number % len(self.all)]

    def deal(self, numbers: Iterable[int]) -> None:
        """The server holds these shards now; those that stay keep their lane."""
        wanted = set(numbers)
        for number in self._lane_of.keys() - wanted:
            self._lane_of.pop(number).shards.discard(number)
        needed = min(self._max_lanes, -(-len(wanted) // self._shards_per_lane))
        while len(self.all) < needed:
            self.all.append(Lane(self._shards_per_lane))
        for number in sorted(wanted - self._lane_of.keys()):
            lane = min(self.all, key=lambda lane: len(lane.shards))
            lane.shards.add(number)
            self._lane_of[number] = lane
