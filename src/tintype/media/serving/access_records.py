"""Cached access records: what serving a file needs to know about its media, kept in Redis for a minute.

The rows are the truth: a record is read from the post, story or highlight that shows the media. Whoever changes one of
those calls `media.change_visibility` in the same transaction, which invalidates the records after the commit. A reader
that is under way meanwhile cannot store what it read before (`redis/fill_lease.py`). A process that dies in between is
covered by the event; whatever else is lost, is outlived by the minute.
"""

import contextlib
from collections.abc import Iterable

import msgspec
from redis.exceptions import RedisError

from shardwright.routing import Shards
from tintype.accounts import Account, Accounts
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.media.models import AccessRecord
from tintype.media.store import QUERIES
from tintype.redis import fill_lease
from tintype.redis.fill_lease import is_lease
from tintype.redis.leased_cache import LeasedCache

TTL_S = 60
ENDING_TTL_S = 2
"""A story ends by the clock of the server that stores it: what is said of its files is read again that often."""
REDIS_UNAVAILABLE = (RedisError, OSError)
log = get_log("media")


class AccessRecords:
    """Reads access records from Redis, else from the shard; without Redis from the shard each time."""

    def __init__(self, shards: Shards, cache: LeasedCache, accounts: Accounts, namespace: str) -> None:
        self._shards, self._cache, self._accounts = shards, cache, accounts
        self._redis_client, self._prefix = cache.redis_client, f"{namespace}:media:access:"
        self._encode, self._decode = (
            msgspec.msgpack.Encoder().encode,
            msgspec.msgpack.Decoder(AccessRecord).decode,
        )

    async def find(self, media_id: MediaId, account_id: AccountId) -> tuple[AccessRecord, Account] | None:
        """The record of media that exist, and their account, in one round trip where both are cached."""
        if not (has_shard(self._shards, media_id) and has_shard(self._shards, account_id)):
            return None
        source = self._accounts.source
        try:
            value, accounts = await self._redis_client.execute(
                ("GET", self._key(media_id)), self._cache.read_command(source.kind, [account_id])
            )
        except REDIS_UNAVAILABLE:
            loaded = await self.load(media_id)
            account = (await self._accounts.find_many([account_id])).get(account_id)
            return (loaded, account) if loaded and account else None
        account = (await self._cache.resolve(source, [account_id], accounts)).get(account_id)
        if account is None:
            return None
        record = (
            await self._load_and_cache(media_id) if value is None or is_lease(value) else self._decode(value)
        )
        return (record, account) if record else None

    async def load(self, media_id: MediaId) -> AccessRecord | None:
        """The record as the shard has it now."""
        found = await self._load(media_id)
        return found[0] if found else None

    async def invalidate(self, ids: Iterable[MediaId]) -> None:
        """Drop the cached records of media that changed; without Redis, an event handler does it later."""
        try:
            await self.invalidate_or_raise(ids)
        except REDIS_UNAVAILABLE as error:
            log.warning("access_records.unavailable", error=str(error))

    async def invalidate_or_raise(self, ids: Iterable[MediaId]) -> None:
        """Drop the cached records of media that changed; raises if Redis is unavailable, so that a job is retried."""
        keys = [self._key(each) for each in ids]
        if keys:
            await self._redis_client.execute(("DEL", *keys))

    async def _load_and_cache(self, media_id: MediaId) -> AccessRecord | None:
        key, lease = self._key(media_id), b""
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            lease = await fill_lease.acquire(self._redis_client, [key])
        found = await self._load(media_id)
        if found is None:
            return None
        record, left_s = found
        ttl_s = TTL_S if left_s is None else min(ENDING_TTL_S, int(left_s))
        if lease and ttl_s > 0:
            with contextlib.suppress(*REDIS_UNAVAILABLE):
                await fill_lease.fill(self._redis_client, {key: self._encode(record)}, lease, ttl_s=ttl_s)
        return record

    async def _load(self, media_id: MediaId) -> tuple[AccessRecord, float | None] | None:
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_access_record, id=media_id)
        if row is None:
            return None
        columns = dict(row)
        left_s = columns.pop("left_s")
        return AccessRecord(**columns), left_s

    def _key(self, media_id: MediaId) -> str:
        return f"{self._prefix}{media_id}"
