"""Counts in Redis how often media are read: by day and sample for their tier, and each read for a smaller format."""

import contextlib
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.ids import MediaId
from tintype.redis.client import RedisClient

SAMPLE_ONE_IN = 8
"""One read of so many is counted, with this weight."""
DAYS_COUNTED = 90
FORMAT_DAYS = 7
"""Reads count towards the conversion of a file for so long after the first of them."""


class ReadCounts:
    """Approximate reads of each media per day. Without Redis nothing is counted."""

    def __init__(self, redis: Redis, namespace: str, redis_client: RedisClient) -> None:
        self._redis, self._prefix = redis, f"{namespace}:media"
        self._redis_client = redis_client

    async def count(self, media_id: MediaId, *, always: bool = False) -> None:
        """Count one read, by sample unless every read matters."""
        if not always and random.randrange(SAMPLE_ONE_IN):  # noqa: S311 - a sample, not a secret
            return
        day = self._day_key(datetime.now(UTC))
        with contextlib.suppress(RedisError, OSError):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hincrby(day, str(media_id), SAMPLE_ONE_IN)
                pipe.expire(day, timedelta(days=DAYS_COUNTED + 1))
                await pipe.execute()

    async def totals(self, ids: Sequence[MediaId], *, days: int) -> list[int]:
        """About how often each was read within the last days."""
        if not ids:
            return []
        today = datetime.now(UTC)
        async with self._redis.pipeline(transaction=False) as pipe:
            for back in range(days):
                pipe.hmget(self._day_key(today - timedelta(days=back)), [str(each) for each in ids])
            by_day: list[list[bytes | None]] = await pipe.execute()
        return [sum(int(day[index] or 0) for day in by_day) for index in range(len(ids))]

    async def count_for_format(self, path: str) -> int:
        """Count a read that a file at this path would have served, had it been made; returns the reads so far."""
        key = f"{self._prefix}:wanted:{path}"
        with contextlib.suppress(RedisError, OSError):
            count, _ = await self._redis_client.execute(
                ("INCR", key), ("EXPIRE", key, int(timedelta(days=FORMAT_DAYS).total_seconds()), "NX")
            )
            return int(count)
        return 0

    async def is_first_within(self, what: str, media_id: MediaId, *, seconds: int) -> bool:
        """Whether this is the first call for these media within so many seconds; also true without Redis."""
        with contextlib.suppress(RedisError, OSError):
            return bool(await self._redis.set(f"{self._prefix}:{what}:{media_id}", 1, ex=seconds, nx=True))
        return True

    def _day_key(self, when: datetime) -> str:
        return f"{self._prefix}:reads:{when:%Y%m%d}"
