"""Tracked read: a batch of read commands in one round trip whose replies go into the client-side cache.

The batch is one MULTI/EXEC transaction, so all replies are of one moment; `CLIENT CACHING YES` before it makes Redis
track every key it reads (see `client_cache.py`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tintype.redis.client import Command, RedisClient
from tintype.redis.client_cache import Region

TRACK_NEXT = ("CLIENT", "CACHING", "YES")
"""Redis tracks the keys read by the next command, here a whole transaction."""
PING, MULTI, EXEC = ("PING",), ("MULTI",), ("EXEC",)


class TrackedRead:
    """Collects commands, executes them together, and stores what callers make of the replies. Close it when done."""

    def __init__(self, redis_client: RedisClient) -> None:
        self._redis_client = redis_client
        self._commands: list[Command] = []
        self._begun: list[tuple[Region[Any, Any], Sequence[int | str]]] = []
        self._groups: dict[tuple[Region[Any, Any], int | str], slice] = {}
        self._replies: list[Any] = []

    def add(
        self, command: Command, region: Region[Any, Any] | None = None, ids: Sequence[int | str] = ()
    ) -> None:
        """Add a command; `store` may cache what its reply says of these ids of the region."""
        self._commands.append(command)
        if region is not None and self._redis_client.client_cache.is_tracking:
            region.begin_read(ids, self)
            self._begun.append((region, ids))

    def add_group(self, region: Region[Any, Any], each: int | str, *commands: Command) -> None:
        """Add commands of whose replies one value of the region is made; `group_replies` returns them."""
        start = len(self._commands)
        self.add(commands[0], region, [each])
        self._commands += commands[1:]
        self._groups[region, each] = slice(start, len(self._commands))

    def group_replies(self, region: Region[Any, Any], each: int | str) -> list[Any] | None:
        """The replies to `add_group` of this id; None where it was not added."""
        group = self._groups.get((region, each))
        return None if group is None else self._replies[group]

    async def execute(self) -> list[Any]:
        """The replies in the order of the commands, in one round trip.

        An empty read sends PING: a reply is what entitles the caller to use the client-side cache.
        """
        if not self._commands:
            await self._redis_client.execute(PING)
            return self._replies
        tracking: Iterable[Command] = (TRACK_NEXT,) if self._begun else ()
        self._replies = (await self._redis_client.execute(*tracking, MULTI, *self._commands, EXEC))[-1]
        return self._replies

    def store(self, region: Region[Any, Any], each: int | str, value: object) -> None:
        """Cache what a reply said of one of the ids, unless it was invalidated meanwhile."""
        region.store(each, value, self)

    def close(self) -> None:
        """End the read: nothing more is cached of its replies."""
        for region, ids in self._begun:
            region.abandon(ids, self)
