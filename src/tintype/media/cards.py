"""What serving needs to know about media, remembered in Redis for a minute.

Only rows are the truth. News of a change clears what is remembered at once; news that gets lost, or meets a reader
half-way, is outlived by the minute.
"""

import contextlib
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from shardwright.running import Shards
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.media.models import Card
from tintype.media.sql import QUERIES

REMEMBERED_S = 60
ONE_READ_IN = 8
"""Of so many reads one is counted, with this weight."""
DAYS_COUNTED = 90


class Cards:
    """Looks cards up, and counts how often that is asked."""

    def __init__(self, shards: Shards, redis: Redis, namespace: str) -> None:
        self._shards, self._redis, self._prefix = shards, redis, f"{namespace}:media"
        self._encode, self._decode = msgspec.json.Encoder().encode, msgspec.json.Decoder(Card).decode

    async def find(self, media_id: MediaId, account_id: AccountId) -> Card | None:
        """The card of media that exist; without Redis the shard is asked each time."""
        keys = (self._key(media_id), self._privacy_key(account_id))
        with contextlib.suppress(RedisError, OSError):
            card, is_private = await self._redis.mget(keys)
            if card and is_private:
                return msgspec.structs.replace(self._decode(card), is_private=is_private == b"1")
        if not has_shard(self._shards, media_id):
            return None
        row = await self._shards.owner(media_id).fetch_one(QUERIES.find_card, id=media_id)
        if row is None:
            return None
        found = Card(**row)
        with contextlib.suppress(RedisError, OSError):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.set(keys[0], self._encode(found), ex=REMEMBERED_S)
                pipe.set(keys[1], int(found.is_private), ex=REMEMBERED_S)
                await pipe.execute()
        return found

    async def forget(self, ids: Iterable[MediaId]) -> None:
        """These have changed."""
        keys = [self._key(each) for each in ids]
        with contextlib.suppress(RedisError, OSError):
            if keys:
                await self._redis.delete(*keys)

    async def forget_account(self, account_id: AccountId) -> None:
        """An account became private or public."""
        with contextlib.suppress(RedisError, OSError):
            await self._redis.delete(self._privacy_key(account_id))

    async def count_read(self, media_id: MediaId, *, surely: bool = False) -> None:
        """One more look at these media, counted by sample unless every look matters."""
        if not surely and random.randrange(ONE_READ_IN):  # noqa: S311 - a sample, not a secret
            return
        day = self._day_key(datetime.now(UTC))
        with contextlib.suppress(RedisError, OSError):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hincrby(day, str(media_id), ONE_READ_IN)
                pipe.expire(day, timedelta(days=DAYS_COUNTED + 1))
                await pipe.execute()

    async def reads_of(self, ids: Sequence[MediaId], *, days: int) -> list[int]:
        """About how often each was read within the last days."""
        if not ids:
            return []
        today = datetime.now(UTC)
        async with self._redis.pipeline(transaction=False) as pipe:
            for back in range(days):
                pipe.hmget(self._day_key(today - timedelta(days=back)), [str(each) for each in ids])
            by_day: list[list[bytes | None]] = await pipe.execute()
        return [sum(int(day[place] or 0) for day in by_day) for place in range(len(ids))]

    async def is_first_within(self, what: str, media_id: MediaId, *, seconds: int) -> bool:
        """Whether nobody has said this of these media for a while."""
        with contextlib.suppress(RedisError, OSError):
            return bool(await self._redis.set(f"{self._prefix}:{what}:{media_id}", 1, ex=seconds, nx=True))
        return True

    def _key(self, media_id: MediaId) -> str:
        return f"{self._prefix}:card:{media_id}"

    def _privacy_key(self, account_id: AccountId) -> str:
        return f"{self._prefix}:private:{account_id}"

    def _day_key(self, when: datetime) -> str:
        return f"{self._prefix}:reads:{when:%Y%m%d}"
