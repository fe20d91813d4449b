"""The connection to Redis, or anything that speaks its language.

redis-py sends under `asyncio.wait_for`, which in Python 3.11 loses a cancellation that arrives in the moment the send
ends: the task would go on as if nobody had asked it to stop. Here it is raised after the command instead.
"""

import asyncio
from typing import Any, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from tintype.base.settings import Settings


class CancellablePipeline(Pipeline):
    """A pipeline that ends with its task."""

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Send everything, then stop where a stop was asked for."""
        answer = await super().execute(raise_on_error)
        _stop_if_asked()
        return answer


class CancellableRedis(Redis):
    """A client that ends with its task."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Send the command, then stop where a stop was asked for."""
        answer = cast("Any", await super().execute_command(*args, **options))
        _stop_if_asked()
        return answer

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> CancellablePipeline:
        """Commands sent together."""
        return CancellablePipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


def connect_redis(settings: Settings) -> Redis:
    """A client; it connects when it is first used."""
    return CancellableRedis.from_url(settings.redis)


def _stop_if_asked() -> None:
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
