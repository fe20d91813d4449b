"""Writes features: every interaction of a viewer counts once, however often and in whatever order it is recorded."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from redis.asyncio import Redis

from shardwright.ids.layout import TIME_SHIFT, Layout
from tintype.base.ids import AccountId, PostId
from tintype.ranking.keys import (
    AUTHOR_TTL_S,
    MAX_INTERACTIONS,
    MAX_POPULAR,
    POST_TTL_S,
    SEEN_TTL_S,
    VIEWER_TTL_S,
    Keys,
)
from tintype.ranking.models import Interaction
from tintype.ranking.row_layouts import MAX_AUTHORS, MAX_INTERESTS, MAX_SEEN, short_hash, subject_hash
from tintype.ranking.weights import Weights
from tintype.redis.client import Command, RedisClient
from tintype.redis.scripts import Script, run

_SEEN = f"""
local length = redis.call('APPEND', KEYS[1], ARGV[1])
if length > {MAX_SEEN * 4 * 5 // 4} then
  redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], {-MAX_SEEN * 4}, -1))
end
redis.call('EXPIRE', KEYS[1], {SEEN_TTL_S})
"""

_CADENCE = Script.of(f"""
local row = redis.call('GET', KEYS[1])
local value, since, last, newest = 0, 0, '', ARGV[1]
if row then
  value, since = struct.unpack('<fI4', row)
  last = string.sub(row, 9)
end
local a_high, a_low = struct.unpack('>I4I4', newest)
local b_high, b_low = 0, 0
if #last == 8 then b_high, b_low = struct.unpack('>I4I4', last) end
if a_high > b_high or (a_high == b_high and a_low > b_low) then
  local at, half = tonumber(ARGV[2]), tonumber(ARGV[3])
  value = value * 2 ^ ((since - at) / half) + 1
  redis.call('SET', KEYS[1], struct.pack('<fI4', value, at) .. newest, 'EX', {AUTHOR_TTL_S})
end
return tostring(value)
""")

_RECORD_INTERACTION = Script.of(Path(__file__).with_name("record_interaction.lua").read_text())


class FeatureWriter:
    """Writes the features of viewers, posts and authors to Redis."""

    def __init__(
        self, redis: Redis, redis_client: RedisClient, keys: Keys, weights: Weights, layout: Layout
    ) -> None:
        self._redis, self._redis_client = redis, redis_client
        self._keys, self._weights, self._layout = keys, weights, layout
        self._seen_script = redis.register_script(_SEEN)

    async def record(self, interaction: Interaction, tags: Iterable[int] = ()) -> bool:
        """Count an interaction, or undo it; False when it changed nothing, as when it was recorded before."""
        [is_counted] = await self.record_all([(interaction, tags)])
        return is_counted

    async def record_all(self, interactions: Iterable[tuple[Interaction, Iterable[int]]]) -> list[bool]:
        """`record` for many interactions, each with the hashtags of its post, in one round trip; in their order."""
        calls = [self._interaction_call(each, tags) for each, tags in interactions]
        return [bool(counted) for counted in await run(self._redis_client, _RECORD_INTERACTION, *calls)]

    def _interaction_call(self, interaction: Interaction, tags: Iterable[int]) -> Command:
        affinity, interest, velocity = self._weights.affinity, self._weights.interest, self._weights.velocity
        viewer, kind = interaction.viewer_id, interaction.kind
        keys = [
            self._keys.acts(viewer),
            self._keys.affinity(viewer),
            self._keys.interest(viewer),
            self._keys.post(interaction.post_id or 0),
            self._keys.hot,
        ]
        return _RECORD_INTERACTION.call(
            keys,
            subject_hash(kind, interaction.object_id),
            struct.pack(">Q", interaction.change_id),
            self.second_of(interaction.change_id),
            int(interaction.is_on),
            struct.pack("<Q", interaction.author_id),
            b"".join(struct.pack("<H", tag) for tag in tags if tag),
            interaction.post_id or "",
            *(MAX_INTERACTIONS, MAX_AUTHORS, MAX_INTERESTS, MAX_POPULAR, VIEWER_TTL_S, POST_TTL_S),
            *(str(getattr(affinity, kind)), str(affinity.half_life_s)),
            *(str(getattr(interest, kind)), str(interest.half_life_s)),
            *(str(getattr(velocity, kind)), str(velocity.half_life_s)),
        )

    async def record_seen(self, viewer: AccountId, posts: Sequence[PostId]) -> None:
        """Record that the viewer has seen these posts: they rank lower from now on."""
        if posts:
            marks = short_hash(np.array(posts, np.uint64)).astype("<u4").tobytes()
            await self._seen_script(keys=[self._keys.seen(viewer)], args=[marks])

    async def record_posts(self, posts: Iterable[tuple[AccountId, PostId]]) -> list[float]:
        """Count new posts of their authors, each once; returns how many each of these publishes a day."""
        half_s = str(self._weights.cadence.half_life_days * 86_400)
        calls = [
            _CADENCE.call(
                [self._keys.cadence(author)], struct.pack(">Q", post_id), self.second_of(post_id), half_s
            )
            for author, post_id in posts
        ]
        return [self.per_day(float(value)) for value in await run(self._redis_client, _CADENCE, *calls)]

    async def get_cadences(self, authors: Sequence[AccountId]) -> dict[AccountId, float]:
        """How many posts a day each of these authors was publishing when they last did; 0 when it is unknown."""
        if not authors:
            return {}
        names = [self._keys.cadence(each) for each in authors]
        rows = cast("list[bytes | None]", await self._redis.mget(names))
        values = [struct.unpack_from("<f", row)[0] if row else 0.0 for row in rows]
        return dict(zip(authors, map(self.per_day, values), strict=True))

    def per_day(self, value: float) -> float:
        """A decaying count as posts per day: in the long run it contains half-life / ln 2 days."""
        return value * float(np.log(2)) / self._weights.cadence.half_life_days

    def second_of(self, id_: int) -> int:
        """The Unix time at which an id was assigned."""
        return ((id_ >> TIME_SHIFT) + self._layout.epoch_ms) // 1000

    def change_id_at(self, second: int) -> int:
        """A change id for something that has no id of its own, from the second it happened."""
        return max(0, second * 1000 - self._layout.epoch_ms) << TIME_SHIFT
