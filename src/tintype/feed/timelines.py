"""Timelines in Redis: one list of post ids per reader.

A list with a conditional push costs a twelfth of a sorted set's memory; ids sort by time anyway. Pushes go only
to lists that exist, so readers who stay away cost nothing. A list may hold repeats after a retried job and posts
that are gone: the reader sorts that out.
"""

from collections.abc import Iterable, Sequence

from redis.asyncio import Redis

from tintype.base.ids import AccountId, PostId

LONGEST = 800
TRIM_AT = 1000
"""Trimming lazily, every 200 pushes, keeps most pushes at a single command."""
KEEP_S = 7 * 86_400
KEYS_PER_SCRIPT = 200
"""A script blocks every other reader of Redis; this many keys take well under a millisecond."""
EMPTY = 0
"""Stands in an otherwise empty list, because Redis has no empty lists."""

_PUSH = f"""
local pushed = 0
for _, key in ipairs(KEYS) do
  local length = redis.call('LPUSHX', key, ARGV[1])
  if length > {TRIM_AT} then redis.call('LTRIM', key, 0, {LONGEST - 1}) end
  if length > 0 then pushed = pushed + 1 end
end
return pushed
"""


class Timelines:
    """The lists of one installation."""

    def __init__(self, redis: Redis, namespace: str) -> None:
        self._redis, self._prefix = redis, f"{namespace}:timeline:"
        self._push_script = redis.register_script(_PUSH)

    async def push(self, post_id: PostId, readers: Sequence[AccountId]) -> int:
        """Put a post on top of those readers' timelines that exist; returns how many did."""
        pushed = 0
        for start in range(0, len(readers), KEYS_PER_SCRIPT):
            keys = [self._key(reader) for reader in readers[start : start + KEYS_PER_SCRIPT]]
            pushed += int(await self._push_script(keys=keys, args=[post_id]))
        return pushed

    async def read(self, reader: AccountId) -> list[PostId] | None:
        """Post ids, newest first and each once; None when there is no timeline."""
        key = self._key(reader)
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.lrange(key, 0, TRIM_AT)
            pipe.expire(key, KEEP_S)
            entries, exists = await pipe.execute()
        return sorted({PostId(int(entry)) for entry in entries} - {EMPTY}, reverse=True) if exists else None

    async def open(self, reader: AccountId) -> None:
        """Make the list exist, so that posts published while it is rebuilt are pushed into it."""
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.rpush(self._key(reader), EMPTY)
            pipe.expire(self._key(reader), KEEP_S)
            await pipe.execute()

    async def fill(self, reader: AccountId, posts: Iterable[PostId]) -> None:
        """Append what was found in the database below what has arrived meanwhile."""
        newest = list(posts)[:LONGEST]
        if newest:
            await self._redis.rpush(self._key(reader), *newest)  # pyright: ignore[reportGeneralTypeIssues] - redis-py types sync and async alike

    async def drop(self, reader: AccountId) -> None:
        """Forget a timeline; the next read rebuilds it."""
        await self._redis.delete(self._key(reader))

    def _key(self, reader: AccountId) -> str:
        return f"{self._prefix}{reader}"
