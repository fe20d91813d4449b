"""Rate limits of actions, counted in Redis for all processes together, one attempt at a time.

The generic cell rate algorithm (GCRA) stores one number per key: the time at which the key has its full burst again.
It allows a burst of `count` and then one every `per_s / count` seconds, and says exactly how long to wait. While Redis
is away each process counts for itself, so that losing Redis does not lift the limits.

The limits themselves are in the table of `base/rate_limits.py`.
"""

import math
import time

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.errors import RateLimited
from tintype.base.rate_limits import LimitOverrides, RateLimit
from tintype.redis.client import PipelinedRedisClient, RedisClient
from tintype.redis.scripts import Script, run

__all__ = ["RateLimit", "RateLimiter", "refuse"]
MAX_LOCAL_KEYS = 10_000

_ACQUIRE = Script.of("""
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local every, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local next = full_at + every
if next - now > window then return math.ceil(next - now - window) end
redis.call('SET', KEYS[1], next, 'PX', math.ceil(next - now))
return 0
""")


class RateLimiter:
    """Counts attempts per key and refuses those that come too fast."""

    def __init__(
        self,
        redis: Redis,
        namespace: str,
        overrides: LimitOverrides | None = None,
        *,
        redis_client: RedisClient | None = None,
    ) -> None:
        self._redis_client: RedisClient = redis_client or PipelinedRedisClient(redis)
        self._prefix = f"{namespace}:limit:"
        self._overrides = overrides or LimitOverrides()
        self._local: dict[str, float] = {}

    def effective(self, limit: RateLimit) -> RateLimit:
        """The limit as the settings have it; a count of zero is no limit."""
        return self._overrides.effective(limit)

    async def acquire(self, limit: RateLimit, key: str | int) -> None:
        """Count one attempt, or raise `RateLimited`, which says when to try again."""
        limit = self.effective(limit)
        if limit.count == 0:
            return
        name, every_ms = f"{self._prefix}{limit.name}:{key}", limit.per_s * 1000 / limit.count
        call = _ACQUIRE.call([name], str(every_ms), str(limit.per_s * 1000))
        try:
            wait_ms = float((await run(self._redis_client, _ACQUIRE, call))[0])
        except (RedisError, OSError):
            wait_ms = self._acquire_locally(name, every_ms, limit.per_s * 1000)
        if wait_ms > 0:
            raise refuse(limit, wait_ms / 1000)

    async def reset(self, limit: RateLimit, key: str | int) -> None:
        """Give this key its full burst again, as after a success."""
        name = f"{self._prefix}{limit.name}:{key}"
        self._local.pop(name, None)
        try:
            await self._redis_client.execute(("DEL", name))
        except (RedisError, OSError):
            return  # it expires by itself

    def _acquire_locally(self, name: str, every_ms: float, window_ms: float) -> float:
        now = time.monotonic() * 1000
        if len(self._local) > MAX_LOCAL_KEYS:
            self._local = {key: full_at for key, full_at in self._local.items() if full_at > now}
        next_full_at = max(self._local.get(name, 0), now) + every_ms
        if next_full_at - now > window_ms:
            return next_full_at - now - window_ms
        self._local[name] = next_full_at
        return 0


def refuse(limit: RateLimit, wait_s: float) -> RateLimited:
    """The refusal of an attempt that came too early, which says when to try again."""
    retry_after_s = max(1, math.ceil(wait_s))
    return RateLimited(
        f"Too many attempts; try again in {_in_words(retry_after_s)}.",
        retry_after_s=retry_after_s,
        policy=limit.policy,
        rule=limit.name,
    )


def _in_words(seconds: int) -> str:
    for unit, unit_s in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * unit_s:
            return f"{math.ceil(seconds / unit_s)} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
