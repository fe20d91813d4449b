"""Who has which posts on their screen, in Redis: named by devices, and forgotten unless it is renewed.

One sorted set says which posts are watched at all, so that a change of a post that nobody watches costs one member of
one command. All of it may be lost with Redis: devices renew it.
"""

import time
from collections.abc import Collection, Iterable
from typing import Any

from redis.asyncio import Redis

from tintype.base.ids import AccountId, PostId

WATCH_S = 90
MAX_WATCHERS = 500
"""Of one post; those who have renewed most recently."""


class PostWatchers:
    """The posts on the screens of devices."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._prefix = redis, f"{namespace}:post-watch:"

    async def replace(self, account_id: AccountId, device_id: str, posts: Collection[PostId]) -> None:
        """Watch these posts for some time and none besides, as this device of the account."""
        member, now = f"{account_id}:{device_id}", time.time()
        own = f"{self._prefix}device:{member}"
        before: Any = await self._redis.smembers(own)  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType] - the client's types mix sync and async
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.delete(own)
            for left in {int(each) for each in before} - set(posts):
                pipe.zrem(self._post(left), member)
            for each in posts:
                pipe.zadd(self._post(each), {member: now + WATCH_S})
                pipe.zremrangebyrank(self._post(each), 0, -MAX_WATCHERS - 1)
                pipe.expire(self._post(each), WATCH_S)
            if posts:
                pipe.sadd(own, *posts)
                pipe.expire(own, WATCH_S)
                pipe.zadd(self._watched, {str(each): now + WATCH_S for each in posts})
                pipe.zremrangebyscore(self._watched, 0, now)
                pipe.expire(self._watched, WATCH_S)
            await pipe.execute()

    async def find(self, ids: Iterable[PostId]) -> dict[AccountId, list[PostId]]:
        """Whose devices watch which of these posts."""
        wanted, now = list(ids), time.time()
        if not wanted:
            return {}
        scores: list[Any] = await self._redis.zmscore(self._watched, [str(each) for each in wanted])
        watched = [
            each
            for each, score in zip(wanted, scores, strict=True)
            if score is not None and float(score) > now
        ]
        if not watched:
            return {}
        async with self._redis.pipeline(transaction=False) as pipe:
            for each in watched:
                pipe.zrangebyscore(self._post(each), now, "+inf")
            replies: list[list[bytes]] = await pipe.execute()
        found: dict[AccountId, list[PostId]] = {}
        for post_id, members in zip(watched, replies, strict=True):
            for account_id in {AccountId(int(each.split(b":", 1)[0])) for each in members}:
                found.setdefault(account_id, []).append(post_id)
        return found

    def _post(self, post_id: int) -> str:
        return f"{self._prefix}post:{post_id}"

    @property
    def _watched(self) -> str:
        return f"{self._prefix}watched"
