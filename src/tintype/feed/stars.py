"""Stars: authors with so many followers that readers look at the author's own list instead of being sent every post.

The row that says so lies with the author and is what counts; a timeline that exists is told before the first post is
held back. What a timeline knows of a star is never wrong, only superfluous once the star has fallen: it then says to
look at a list in which there is nothing new. So nothing has to be taken back, and no order of events can lose a post.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta

import msgspec

from shardwright.running import Shards
from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId
from tintype.base.outbox import Outbox
from tintype.base.wire import Wire
from tintype.feed.building import QUERIES, Building
from tintype.feed.events import StarRisen
from tintype.feed.lists import Lists

FALLS_BELOW = 0.8
"""A star falls at this share of the followers it takes to rise, so that one follower more or less changes nothing."""
FRESH_S = 2.0
MOST_LOADED = 1_000
LOADED_AT_ONCE = 50
STUCK = timedelta(minutes=10)
"""A star that has not settled after this long begins anew: the job that was to tell the timelines has died."""


class Standing(msgspec.Struct, frozen=True):
    """How an author's posts travel."""

    follower_count: int
    change_id: int | None = None
    is_settled: bool = False
    """Timelines look by themselves; nothing is pushed."""


class StarBook:
    """Who is a star, on the author's shard."""

    def __init__(self, shards: Shards, outbox: Outbox, *, rises_at: int) -> None:
        self._shards, self._outbox, self._rises_at = shards, outbox, rises_at

    async def cross(self, author: AccountId, standing: Standing) -> Standing:
        """How an author's posts travel from now on: crosses the threshold where it is time to."""
        if standing.change_id is None and standing.follower_count >= self._rises_at:
            return await self._rise(author, standing)
        if standing.change_id is not None and standing.follower_count < self._rises_at * FALLS_BELOW:
            await self._end(author, standing.change_id)
            return Standing(standing.follower_count)
        if standing.change_id is not None and not standing.is_settled and self._is_stuck(standing.change_id):
            return await self._rise(author, standing)
        return standing

    async def is_rising(self, risen: StarRisen) -> bool:
        """Whether this rise is the one that has to be told of."""
        row = await self._shards.owner(risen.author_id).fetch_one(
            QUERIES.find_standing, account_id=risen.author_id
        )
        return row is not None and row["change_id"] == risen.change_id and not row["is_settled"]

    async def settle(self, risen: StarRisen) -> None:
        """Every timeline knows: hold the author's posts back from now on, unless the star has fallen."""
        await self._shards.owner(risen.author_id).execute(
            QUERIES.settle_star, account_id=risen.author_id, change_id=risen.change_id
        )

    async def forget(self, author: AccountId) -> int:
        """Nothing is kept of somebody who leaves; returns how much there was."""
        return await self._shards.owner(author).execute(QUERIES.forget_star, account_id=author)

    async def count(self, author: AccountId) -> int:
        """How much is kept of somebody."""
        return int(await self._shards.owner(author).fetch_value(QUERIES.count_star, account_id=author))

    async def _rise(self, author: AccountId, standing: Standing) -> Standing:
        async with self._shards.owner(author).begin() as tx:
            change_id = await tx.fetch_value(
                QUERIES.begin_star, account_id=author, expected=standing.change_id or 0
            )
            if change_id is not None:
                await self._outbox.add(tx, StarRisen(author, change_id))
        return Standing(standing.follower_count, change_id)

    async def _end(self, author: AccountId, change_id: int) -> None:
        await self._shards.owner(author).execute(QUERIES.end_star, account_id=author, change_id=change_id)

    def _is_stuck(self, change_id: int) -> bool:
        return self._shards.map.layout.id_time(change_id) < datetime.now(UTC) - STUCK


class StarLists:
    """The stars' own lists: near, else in Redis, else from the shards."""

    def __init__(
        self, wire: Wire, lists: Lists, building: Building, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._wire, self._lists, self._building, self._clock = wire, lists, building, clock
        self._near = lists.near.here
        self._loaded: dict[AccountId, tuple[float, list[int]]] = {}
        self._loading = asyncio.Lock()

    def ask(self, stars: Iterable[AccountId], bringing: Bringing) -> None:
        """Ask for those of these lists that are not near."""
        for star in stars:
            if star not in self._near:
                self._lists.ask(star, bringing)

    async def take(self, stars: Sequence[AccountId], bringing: Bringing) -> list[Sequence[int]]:
        """These lists, in this order; what was not asked for, or has changed since, takes one more round trip."""
        near = self._near
        lists = {star: near[star].ids for star in stars if star in near}
        if len(lists) < len(stars):
            lists |= await self._learn([star for star in stars if star not in lists], bringing)
        return [lists[star] for star in stars]

    async def _learn(self, stars: Sequence[AccountId], bringing: Bringing) -> dict[AccountId, Sequence[int]]:
        unasked = [star for star in stars if bringing.answers_for(self._lists.near, star) is None]
        learnt = await self._read([star for star in stars if star not in unasked], bringing)
        if unasked:
            with closing(Bringing(self._wire)) as again:
                self.ask(unasked, again)
                await again.ask()
                learnt |= await self._read(unasked, again)
        absent = [star for star in stars if star not in learnt]
        if absent:
            async with self._loading:  # of many who miss the same star at once, one asks the shard
                learnt |= self._fresh(absent)
                for start in range(0, len(absent), LOADED_AT_ONCE):
                    some = absent[start : start + LOADED_AT_ONCE]
                    learnt |= await self._load([star for star in some if star not in learnt])
        return learnt

    async def _read(self, stars: Iterable[AccountId], bringing: Bringing) -> dict[AccountId, Sequence[int]]:
        """Those lists that Redis has."""
        found: dict[AccountId, Sequence[int]] = {}
        for star in stars:
            answered = await self._lists.take(star, bringing)
            if answered is not None and answered.is_ready:
                found[star] = answered.ids
                await self._lists.renew(star)
        return found

    def key(self, star: AccountId) -> str:
        """Where a star's list lies: in a cluster beside the star's own timeline."""
        return self._lists.key(star)

    async def drop(self, star: AccountId) -> None:
        """Forget a list."""
        self._loaded.pop(star, None)
        await self._lists.drop(star)

    def _fresh(self, stars: Iterable[AccountId]) -> dict[AccountId, list[int]]:
        """Those lists that this process has loaded just now, and that may not be in Redis yet."""
        now, loaded = self._clock(), self._loaded
        return {star: loaded[star][1] for star in stars if star in loaded and loaded[star][0] > now}

    def _keep(self, star: AccountId, ids: list[int]) -> list[int]:
        if len(self._loaded) >= MOST_LOADED:
            self._loaded.clear()
        self._loaded[star] = (self._clock() + FRESH_S, ids)
        return ids

    async def _load(self, stars: Sequence[AccountId]) -> dict[AccountId, list[int]]:
        if not stars:
            return {}
        tokens = await self._lists.open(*stars)
        found, is_complete = await self._building.stars(stars)
        for star, token in tokens.items():
            if is_complete:
                await self._lists.fill(star, token, found[star])
            else:
                await self._lists.give_up(star, token)
        return {star: self._keep(star, list[int](found[star][::-1])) for star in stars}
