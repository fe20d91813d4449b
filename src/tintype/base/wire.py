"""Many commands to Redis, one wait: what the hottest reads use instead of the general client."""

from collections.abc import Sequence
from typing import Any, Protocol

from redis.asyncio import Redis

Command = Sequence[bytes | str | int]


class Wire(Protocol):
    """Anything that sends commands together and returns their answers, as bytes and numbers, in the same order."""

    async def ask(self, *commands: Command) -> list[Any]:
        """One round trip. A refused command raises; a lost connection raises what redis-py raises."""
        ...


class PipelinedWire:
    """Over redis-py's pipeline."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def ask(self, *commands: Command) -> list[Any]:
        """One round trip."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            return await pipe.execute()
