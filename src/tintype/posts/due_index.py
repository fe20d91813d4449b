"""Which scheduled posts are due soon: a sorted set in Redis, so that the worker asks one server instead of every shard.

It holds what is due within `HORIZON_S` and may be lost at any time: a sweep of all shards, more often than that, adds
what is missing, and publishes by itself what is overdue. A mark that a sweep leaves is lost with the rest, so a Redis
that has lost its data is noticed at the next look.
"""

from datetime import UTC, datetime

from redis.exceptions import RedisError

from tintype.base.ids import ScheduledPostId
from tintype.base.log import get_log
from tintype.redis.client import RedisClient

log = get_log("posts")
HORIZON_S = 900
INCOMPLETE_S = 30
REDIS_UNAVAILABLE = (RedisError, OSError)


class DueIndex:
    """Scheduled posts by the time at which they are due."""

    def __init__(self, redis_client: RedisClient, namespace: str) -> None:
        self._redis_client, self._key = redis_client, f"{namespace}:scheduled_posts"
        self._mark = f"{self._key}:swept"

    async def add(self, scheduled_id: ScheduledPostId, due_at: datetime) -> None:
        """File a post under its time, which may be a new one; what is due after the horizon is left to the sweep."""
        if (due_at - datetime.now(UTC)).total_seconds() > HORIZON_S:
            await self.remove(scheduled_id)
            return
        await self._try("ZADD", int(due_at.timestamp()), scheduled_id)

    async def remove(self, scheduled_id: ScheduledPostId) -> None:
        """Take a post out."""
        await self._try("ZREM", scheduled_id)

    async def find_due(self, limit: int) -> list[ScheduledPostId] | None:
        """Posts that are due now, the longest waiting first; None where the index may lack some, or does not answer."""
        now = int(datetime.now(UTC).timestamp())
        try:
            is_swept, found = await self._redis_client.execute(
                ("EXISTS", self._mark), ("ZRANGE", self._key, "-inf", now, "BYSCORE", "LIMIT", 0, limit)
            )
        except REDIS_UNAVAILABLE as error:
            log.warning("due_index.unavailable", error=str(error))
            return None
        return [ScheduledPostId(int(each)) for each in found] if is_swept else None

    async def mark_swept(self, *, is_complete: bool) -> None:
        """The shards were read: the index lacks nothing of those that answered; the others are soon asked again."""
        lasts_s = HORIZON_S if is_complete else INCOMPLETE_S
        try:
            await self._redis_client.execute(("SET", self._mark, 1, "EX", lasts_s))
        except REDIS_UNAVAILABLE as error:
            log.warning("due_index.unavailable", error=str(error))

    async def _try(self, command: str, *values: int) -> None:
        try:
            await self._redis_client.execute((command, self._key, *values))
        except REDIS_UNAVAILABLE as error:
            log.warning("due_index.unavailable", error=str(error))
