"""Cached access records: what serving a file needs to know about its media, kept in Redis for a minute.

The rows are the truth. A change invalidates its record at once; an invalidation that is lost, or that meets a reader
half-way, is outlived by the minute.
"""

import contextlib
from collections.abc import Iterable

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from shardwright.routing import Shards
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.media.models import AccessRecord
from tintype.media.store import QUERIES

TTL_S = 60


class AccessRecords:
    """Reads access records from Redis, else from the shard; without Redis from the shard each time."""

    def __init__(self, shards: Shards, redis: Redis, namespace: str) -> None:
        self._shards, self._redis, self._prefix = shards, redis, f"{namespace}:media"
        self._encode, self._decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(AccessRecord).decode

    async def find(self, media_id: MediaId, account_id: AccountId) -> AccessRecord | None:
        """The record of media that exist. Privacy is cached per account, so that one change covers all its media."""
        keys = (self._key(media_id), self._privacy_key(account_id))
        with contextlib.suppress(RedisError, OSError):
            record, is_private = await self._redis.mget(keys)
            if record and is_private:
                return msgspec.structs.replace(self._decode(record), is_private=is_private == b"1")
        if not has_shard(self._shards, media_id):
            return None
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_access_record, id=media_id)
        if row is None:
            return None
        found = AccessRecord(**row)
        with contextlib.suppress(RedisError, OSError):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.set(keys[0], self._encode(found), ex=TTL_S)
                pipe.set(keys[1], int(found.is_private), ex=TTL_S)
                await pipe.execute()
        return found

    async def invalidate(self, ids: Iterable[MediaId]) -> None:
        """Drop the cached records of media that changed."""
        keys = [self._key(each) for each in ids]
        with contextlib.suppress(RedisError, OSError):
            if keys:
                await self._redis.delete(*keys)

    async def invalidate_account(self, account_id: AccountId) -> None:
        """Drop the cached privacy of an account that became private or public."""
        with contextlib.suppress(RedisError, OSError):
            await self._redis.delete(self._privacy_key(account_id))

    def _key(self, media_id: MediaId) -> str:
        return f"{self._prefix}:card:{media_id}"

    def _privacy_key(self, account_id: AccountId) -> str:
        return f"{self._prefix}:private:{account_id}"
