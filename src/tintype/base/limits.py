"""How often something may be done: one rule, many keys, counted in Redis for all processes together.

The generic cell rate algorithm keeps one number per key: the moment at which the key would be fully rested. It allows
a burst of `count` and then one every `per_s / count` seconds, and says exactly how long to wait. While Redis is away
each process counts for itself, so that losing Redis does not open the door.
"""

import math
import time
from dataclasses import dataclass

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tintype.base.errors import RateLimited

MOST_KEYS_HERE = 10_000

_TAKE = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
local every, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local rested = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local next = rested + every
if next - now > window then return math.ceil(next - now - window) end
redis.call('SET', KEYS[1], next, 'PX', math.ceil(next - now))
return 0
"""


@dataclass(frozen=True)
class Rule:
    """At most `count` in a burst, and as many in every `per_s` seconds in the long run."""

    name: str
    count: int
    per_s: float


class Limiter:
    """Counts tries and refuses those that come too fast."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._prefix = redis, f"{namespace}:limit:"
        self._script = redis.register_script(_TAKE)
        self._here: dict[str, float] = {}

    async def take(self, rule: Rule, key: str | int) -> None:
        """Count one try, or refuse it and say when the next is welcome."""
        name, every_ms = f"{self._prefix}{rule.name}:{key}", rule.per_s * 1000 / rule.count
        try:
            wait_ms = float(await self._script(keys=[name], args=[every_ms, rule.per_s * 1000]))
        except (RedisError, OSError):
            wait_ms = self._take_here(name, every_ms, rule.per_s * 1000)
        if wait_ms > 0:
            raise RateLimited(retry_after_s=math.ceil(wait_ms / 1000), rule=rule.name)

    async def forgive(self, rule: Rule, key: str | int) -> None:
        """Start this key afresh, as after a success."""
        name = f"{self._prefix}{rule.name}:{key}"
        self._here.pop(name, None)
        try:
            await self._redis.delete(name)
        except (RedisError, OSError):
            return  # it rests by itself

    def _take_here(self, name: str, every_ms: float, window_ms: float) -> float:
        now = time.monotonic() * 1000
        if len(self._here) > MOST_KEYS_HERE:
            self._here = {key: rested for key, rested in self._here.items() if rested > now}
        following = max(self._here.get(name, 0), now) + every_ms
        if following - now > window_ms:
            return following - now - window_ms
        self._here[name] = following
        return 0
