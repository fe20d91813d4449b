"""Cache in Redis: the live stories of each author, including the fact that an author has none, as most do.

A tray reads it for everybody the viewer follows, thousands of authors at once. So it is not a kind of the common
`LeasedCache`: an author without stories costs one byte that is compared and skipped, and misses are leased, loaded and
stored some hundreds at a time. The protocol is the same (`redis/fill_lease.py`): a miss leaves a lease, a loaded value
is stored only where that very lease still stands, and an invalidation removes leases too. So an invalidation after a
commit makes later reads load what was committed. Redis may be empty or unavailable at any time. Values that were read
stay in the client-side cache until Redis invalidates them (`redis/client_cache.py`).
"""

import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing

import msgspec
from redis.exceptions import RedisError

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.redis import fill_lease
from tintype.redis.client import RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.fill_lease import chunks, is_lease
from tintype.redis.tracked_read import TrackedRead

log = get_log("stories")
AuthorStories = tuple[tuple[int, bool], ...]
"""Story ids, oldest first, each with whether the story is for close friends only."""
Load = Callable[[Sequence[AccountId]], Awaitable[Mapping[AccountId, AuthorStories]]]
"""Loads the live stories of authors, empty for those without any; authors on unavailable servers are missing."""
REDIS_UNAVAILABLE = (RedisError, OSError)
NO_STORIES = b"-"
TTL_S = 12 * 3_600
"""Half a day, plus a random time up to as long again, so that what was loaded together does not expire together."""
KEYS_PER_READ = 1_000
"""Reading a thousand keys takes Redis well under a millisecond."""
MAX_CLIENT_CACHED = 50_000


class AuthorStoriesCache:
    """The live stories of authors, read through from their shards."""

    def __init__(self, redis_client: RedisClient, namespace: str, load: Load) -> None:
        self._redis_client, self._prefix, self._load = redis_client, f"{namespace}:ring:", load
        self._region: Region[int, AuthorStories] = redis_client.client_cache.region(
            self._prefix, int, MAX_CLIENT_CACHED
        )
        self._tasks = BackgroundTasks()

    async def find(self, authors: Sequence[AccountId]) -> dict[AccountId, AuthorStories]:
        """The stories of those authors who had some when the cache was filled; some may have ended since."""
        try:
            found, missing = await self._read(authors)
        except REDIS_UNAVAILABLE as error:
            log.warning("author_stories.unavailable", error=str(error))
            return _with_stories(await self._load(authors))
        return found | _with_stories(await self._fill(missing)) if missing else found

    async def invalidate(self, *authors: AccountId) -> None:
        """Drop the cached stories of authors, after a commit; without Redis, an event handler does it later."""
        try:
            await self.invalidate_or_raise(*authors)
        except REDIS_UNAVAILABLE as error:
            log.warning("author_stories.unavailable", error=str(error))

    async def invalidate_or_raise(self, *authors: AccountId) -> None:
        """Drop the cached stories of authors; raises if Redis is unavailable, so that a job is retried."""
        if authors:
            await self._redis_client.execute(("DEL", *self._keys(authors)))

    async def flush(self) -> None:
        """Wait until loaded values are stored, or abandoned."""
        await self._tasks.drain()

    async def _read(
        self, authors: Sequence[AccountId]
    ) -> tuple[dict[AccountId, AuthorStories], list[AccountId]]:
        """The cached stories of those who have some, and the authors who are not cached."""
        cached = self._region.values
        with closing(TrackedRead(self._redis_client)) as read:
            requested = self._request([each for each in authors if each not in cached], read)
            replies = await read.execute()
            # A value invalidated while the reply was awaited counts as a miss.
            found = {each: cached.get(each) for each in authors}
            for some, values in zip(requested, replies, strict=True):
                for author, value in zip(some, values, strict=True):
                    found[author] = stories = _decode(value)
                    if stories is not None:
                        read.store(self._region, author, stories)
        missing = [each for each, stories in found.items() if stories is None]
        return {each: stories for each, stories in found.items() if stories}, missing

    def _request(self, authors: Sequence[AccountId], read: TrackedRead) -> list[Sequence[AccountId]]:
        requested = list(chunks(authors, KEYS_PER_READ))
        for some in requested:
            read.add(("MGET", *self._keys(some)), self._region, some)
        return requested

    async def _fill(self, authors: Sequence[AccountId]) -> Mapping[AccountId, AuthorStories]:
        """Load the stories of authors under a lease, and store them in the background."""
        try:
            lease = await fill_lease.acquire(self._redis_client, self._keys(authors))
        except REDIS_UNAVAILABLE as error:
            log.warning("author_stories.unavailable", error=str(error))
            return await self._load(authors)
        loaded = await self._load(authors)
        self._tasks.start(lambda: self._store(loaded, lease))
        return loaded

    async def _store(self, loaded: Mapping[AccountId, AuthorStories], lease: bytes) -> None:
        ttl_s = TTL_S + random.randrange(TTL_S)  # noqa: S311 - spread, not a secret
        values = dict(zip(self._keys(loaded), map(_encode, loaded.values()), strict=True))
        try:
            await fill_lease.fill(self._redis_client, values, lease, ttl_s=ttl_s)
        except REDIS_UNAVAILABLE as error:
            log.warning("author_stories.unavailable", error=str(error))

    def _keys(self, authors: Iterable[AccountId]) -> list[str]:
        prefix = self._prefix
        return [f"{prefix}{each}" for each in authors]


def _encode(stories: AuthorStories) -> bytes:
    return msgspec.msgpack.encode(stories) if stories else NO_STORIES


def _decode(value: bytes | None) -> AuthorStories | None:
    """The cached stories; None for a miss, which may be a lease of somebody who is loading them."""
    if value is None or is_lease(value):
        return None
    return () if value == NO_STORIES else msgspec.msgpack.decode(value, type=AuthorStories)


def _with_stories(loaded: Mapping[AccountId, AuthorStories]) -> dict[AccountId, AuthorStories]:
    return {author: stories for author, stories in loaded.items() if stories}
