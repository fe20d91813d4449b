"""Writes features: every act of a viewer counts once, however often and in whatever order it is told."""

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from redis.asyncio import Redis

from shardwright.ids.layout import TIME_SHIFT, Layout
from tintype.base.ids import AccountId, PostId
from tintype.ranking.keys import (
    KEEP_AUTHOR_S,
    KEEP_POST_S,
    KEEP_SEEN_S,
    KEEP_VIEWER_S,
    MOST_ACTS,
    MOST_HOT,
    Keys,
)
from tintype.ranking.models import Act
from tintype.ranking.rows import MOST_AUTHORS, MOST_INTERESTS, MOST_SEEN, short, subject
from tintype.ranking.weights import Weights

_SEE = f"""
local length = redis.call('APPEND', KEYS[1], ARGV[1])
if length > {MOST_SEEN * 4 * 5 // 4} then
  redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], {-MOST_SEEN * 4}, -1))
end
redis.call('EXPIRE', KEYS[1], {KEEP_SEEN_S})
"""

_PACE = f"""
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
  redis.call('SET', KEYS[1], struct.pack('<fI4', value, at) .. newest, 'EX', {KEEP_AUTHOR_S})
end
return tostring(value)
"""


class Notes:
    """The writing side of the features."""

    def __init__(self, redis: Redis, keys: Keys, weights: Weights, layout: Layout) -> None:
        self._redis, self._keys, self._weights, self._layout = redis, keys, weights, layout
        self._note = redis.register_script(Path(__file__).with_name("note.lua").read_text())
        self._see, self._pace = redis.register_script(_SEE), redis.register_script(_PACE)

    async def act(self, act: Act, tags: Iterable[int] = ()) -> bool:
        """Count an act, or take it back; False when it changed nothing, as when it was told before."""
        if act.viewer_id == act.author_id:
            return False
        near, interest, pulse = self._weights.affinity, self._weights.interest, self._weights.velocity
        names = [self._keys.acts(act.viewer_id), self._keys.affinity(act.viewer_id)]
        names += [self._keys.interest(act.viewer_id), self._keys.post(act.post_id or 0), self._keys.hot]
        counted = await self._note(
            keys=names,
            args=[
                subject(act.kind, act.object_id),
                struct.pack(">Q", act.change_id),
                self.second(act.change_id),
                int(act.is_on),
                struct.pack("<Q", act.author_id),
                b"".join(struct.pack("<H", tag) for tag in tags if tag),
                act.post_id or "",
                *(MOST_ACTS, MOST_AUTHORS, MOST_INTERESTS, MOST_HOT, KEEP_VIEWER_S, KEEP_POST_S),
                *(getattr(near, act.kind), near.half_life_s),
                *(getattr(interest, act.kind), interest.half_life_s),
                *(getattr(pulse, act.kind), pulse.half_life_s),
            ],
        )
        return bool(counted)

    async def see(self, viewer: AccountId, posts: Sequence[PostId]) -> None:
        """These posts have been seen and sink from now on."""
        if posts:
            marks = short(np.array(posts, np.uint64)).astype("<u4").tobytes()
            await self._see(keys=[self._keys.seen(viewer)], args=[marks])

    async def publish(self, author: AccountId, post_id: PostId) -> float:
        """Count a post of the author's, once; returns how many the author publishes a day."""
        half_s = self._weights.cadence.half_life_days * 86_400
        value = await self._pace(
            keys=[self._keys.cadence(author)], args=[struct.pack(">Q", post_id), self.second(post_id), half_s]
        )
        return self.per_day(float(value))

    async def paces(self, authors: Sequence[AccountId]) -> dict[AccountId, float]:
        """How many posts a day each of these authors was publishing when they last did; 0 when it is not known."""
        if not authors:
            return {}
        names = [self._keys.cadence(each) for each in authors]
        rows = cast("list[bytes | None]", await self._redis.mget(names))
        values = [struct.unpack_from("<f", row)[0] if row else 0.0 for row in rows]
        return dict(zip(authors, map(self.per_day, values), strict=True))

    def per_day(self, value: float) -> float:
        """What a count that fades means: in the long run it holds half-life / ln 2 days."""
        return value * float(np.log(2)) / self._weights.cadence.half_life_days

    def second(self, id_: int) -> int:
        """When an id was made."""
        return ((id_ >> TIME_SHIFT) + self._layout.epoch_ms) // 1000

    def change_at(self, second: int) -> int:
        """The change number of something that has no id of its own."""
        return max(0, second * 1000 - self._layout.epoch_ms) << TIME_SHIFT
