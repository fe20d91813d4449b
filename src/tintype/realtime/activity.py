"""Who is connected, in Redis: entered and removed as devices connect and disconnect, and confirmed once a minute.

Each device is an entry with the time when it was last known to be connected; one that has left stays for some minutes
with a number that is larger than any time. Entries are only ever raised, so neither a list of connections that is a
moment old nor news in the wrong order brings a device back. What nobody confirms counts for 150 seconds. All of it may
be lost with Redis.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from redis.asyncio import Redis

from tintype.base.ids import AccountId

CONFIRM_EVERY_S = 60.0
COUNTS_S = 150
LAST_ACTIVE_KEPT_S = 30 * 86_400
BATCH = 500
LEFT = 10.0**12
"""Added to the time when a device has left."""
LEFT_KEPT_S = 600
AHEAD_S = 60
"""How much the clock of another machine may be ahead."""


class Activity(msgspec.Struct, frozen=True):
    """Whether somebody is active now, and when they were last."""

    is_active: bool
    last_active_at: datetime | None


INACTIVE = Activity(is_active=False, last_active_at=None)


class ActivityLog:
    """The devices of everybody who is connected."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._prefix = redis, f"{namespace}:active:"

    async def connected(self, account_id: AccountId, device: str) -> bool:
        """Enter a device; whether its account was not active before."""
        now, key = time.time(), self._key(account_id)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zcount(key, now - COUNTS_S, now + AHEAD_S)
            pipe.zadd(key, {device: now}, gt=True)
            pipe.expire(key, COUNTS_S)
            pipe.set(self._last(account_id), int(now), ex=LAST_ACTIVE_KEPT_S)
            replies: list[Any] = await pipe.execute()
        return not replies[0]

    async def disconnected(self, account_id: AccountId, device: str) -> bool:
        """Mark a device as one that has left; whether its account is not active any more."""
        now, key = time.time(), self._key(account_id)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(key, {device: LEFT + now}, gt=True)
            pipe.zremrangebyscore(key, 0, now - COUNTS_S)
            pipe.zremrangebyscore(key, LEFT, LEFT + now - LEFT_KEPT_S)
            pipe.expire(key, COUNTS_S)
            pipe.zcount(key, now - COUNTS_S, now + AHEAD_S)
            pipe.set(self._last(account_id), int(now), ex=LAST_ACTIVE_KEPT_S)
            replies: list[Any] = await pipe.execute()
        return not replies[4]

    async def confirm(self, devices: Iterable[tuple[AccountId, str]]) -> None:
        """These devices are connected now."""
        waiting = list(devices)
        for start in range(0, len(waiting), BATCH):
            now = time.time()
            async with self._redis.pipeline(transaction=False) as pipe:
                for account_id, device in waiting[start : start + BATCH]:
                    pipe.zadd(self._key(account_id), {device: now}, gt=True)
                    pipe.expire(self._key(account_id), COUNTS_S)
                    pipe.set(self._last(account_id), int(now), ex=LAST_ACTIVE_KEPT_S)
                await pipe.execute()

    async def find_many(self, ids: Sequence[AccountId]) -> Mapping[AccountId, Activity]:
        """The activity of these accounts."""
        if not ids:
            return {}
        async with self._redis.pipeline(transaction=False) as pipe:
            for each in ids:
                pipe.zcount(self._key(each), time.time() - COUNTS_S, time.time() + AHEAD_S)
                pipe.get(self._last(each))
            replies: list[Any] = await pipe.execute()
        return {
            each: Activity(bool(count), datetime.fromtimestamp(int(last), UTC) if last else None)
            for each, count, last in zip(ids, replies[::2], replies[1::2], strict=True)
        }

    async def forget(self, account_id: AccountId) -> None:
        """Nothing is known of this account any more."""
        await self._redis.delete(self._key(account_id), self._last(account_id))

    def _key(self, account_id: AccountId) -> str:
        return f"{self._prefix}{account_id}"

    def _last(self, account_id: AccountId) -> str:
        return f"{self._prefix}last:{account_id}"
