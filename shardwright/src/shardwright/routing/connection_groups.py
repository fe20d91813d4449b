"""Connection groups: a server's shards are partitioned among connections, so that no backend touches them all."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardwright.routing.pooled_connection import PooledConnection


class Waiter:
    """A caller waiting for a connection; its future gets one, or None to try again."""

    __slots__ = ("future", "since")

    def __init__(self, since: float) -> None:
        self.since = since
        self.future: asyncio.Future[PooledConnection | None] = asyncio.get_running_loop().create_future()


class ConnectionGroup:
    """Some shards, the idle connections that serve them, and the callers waiting for one."""

    __slots__ = ("idle", "max_shards_touched", "opening", "shards", "size", "waiters")

    def __init__(self, max_shards_touched: int) -> None:
        self.max_shards_touched = max_shards_touched
        self.shards: set[int] = set()
        self.idle: list[PooledConnection] = []
        self.size = 0  # open or being opened
        self.opening = 0
        self.waiters: deque[Waiter] = deque()

    def is_full(self, pooled: "PooledConnection") -> bool:
        """Whether a connection has touched its maximum of shards while the group has more."""
        return (
            len(pooled.shards_touched) >= self.max_shards_touched
            and len(self.shards) > self.max_shards_touched
        )

    def has_waited_since(self, since: float) -> bool:
        """Whether somebody waits since then or longer for whom no connection is being opened yet."""
        return len(self.waiters) > self.opening and self.waiters[self.opening].since <= since

    def hand_over(self, pooled: "PooledConnection") -> None:
        """Give a free connection to the caller that has waited longest, or make it idle."""
        while self.waiters:
            future = self.waiters.popleft().future
            if not future.done():
                future.set_result(pooled)
                return
        self.idle.append(pooled)

    def wake_next(self) -> None:
        """Let the caller that has waited longest try again: a connection slot became free."""
        while self.waiters:
            future = self.waiters.popleft().future
            if not future.done():
                future.set_result(None)
                return

    def fail_all(self, error: Exception) -> None:
        """Raise the error in every waiting caller."""
        self.fail_waiters(float("inf"), lambda: error)

    def fail_waiters(self, since: float, reason: Callable[[], Exception]) -> None:
        """Raise an error in every caller that has been waiting since then or longer."""
        for waiter in [waiter for waiter in self.waiters if waiter.since <= since]:
            self.waiters.remove(waiter)
            if not waiter.future.done():
                waiter.future.set_exception(reason())


class ConnectionGroups:
    """The groups of one server; each shard belongs to one of them for as long as it stays on the server."""

    def __init__(self, *, shards_per_group: int, max_groups: int, wanted_groups: int = 1) -> None:
        """`wanted_groups`: more than the shards need, so that each backend touches fewer of them."""
        self._shards_per_group = shards_per_group
        self._max_groups = max_groups
        self._wanted_groups = wanted_groups
        self.all = [ConnectionGroup(shards_per_group)]
        self._group_of: dict[int, ConnectionGroup] = {}

    def for_shard(self, number: int) -> ConnectionGroup:
        """The group of a shard, also for a shard that the server does not own according to the map."""
        return self._group_of.get(number) or self.all[number % len(self.all)]

    def assign_shards(self, numbers: Iterable[int]) -> None:
        """Partition the server's current shards; those that were there before keep their group."""
        wanted = set(numbers)
        for number in self._group_of.keys() - wanted:
            self._group_of.pop(number).shards.discard(number)
        needed = max(-(-len(wanted) // self._shards_per_group), min(self._wanted_groups, len(wanted)))
        needed = min(self._max_groups, needed)
        while len(self.all) < needed:
            self.all.append(ConnectionGroup(self._shards_per_group))
        for number in sorted(wanted - self._group_of.keys()):
            group = min(self.all, key=lambda group: len(group.shards))
            group.shards.add(number)
            self._group_of[number] = group
