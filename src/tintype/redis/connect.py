"""Connects to Redis, or to anything that speaks its protocol, such as Valkey.

redis-py sends under `asyncio.wait_for`, which in Python 3.11 loses a cancellation that arrives at the moment the send
ends: the task would go on as if it had not been cancelled. Here `CancelledError` is raised after the command instead.
"""

import asyncio
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from tintype.base.settings import Settings


class CancellablePipeline(Pipeline):
    """A redis-py pipeline that does not lose a cancellation of its task."""

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send everything, then raise `CancelledError` if the task was cancelled meanwhile."""
        replies = await super().execute(raise_on_error)
        _raise_if_cancelled()
        return replies


class CancellableRedis(Redis):
    """A redis-py client that does not lose a cancellation of its task."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send the command, then raise `CancelledError` if the task was cancelled meanwhile."""
        reply = cast("Any", await super().execute_command(*args, **options))
        _raise_if_cancelled()
        return reply

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> CancellablePipeline:
        """A pipeline: commands that are sent together."""
        return CancellablePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


def connect_redis(settings: Settings) -> Redis:
    """A client for the Redis of the settings; it connects at first use."""
    return CancellableRedis.from_url(settings.redis)


def _raise_if_cancelled() -> None:
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
