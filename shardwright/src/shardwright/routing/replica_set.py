"""The replicas of one server: which of them may answer a read, and how far each is behind.

**A replica may answer** a read that needs a position of the WAL once it has shown that it has replayed it. Every read
needs at least the *floor*: a flush position of the primary, asked for after this process had loaded its map. A replica
below it may show half a shard that was moved here since, or lack what was written before.

**Lag** is measured without anybody's clock but this process's: the primary is asked for its flush position, and what
was committed before that question is on a replica as soon as it has replayed up to the answer.
"""

import asyncio
import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.routing.options import PoolOptions
from shardwright.routing.replica import Replica, close_all
from shardwright.routing.wal_positions import Observation, Position, SharedCall, observe_primary
from shardwright.topology import fenced_shards

if TYPE_CHECKING:
    from asyncpg import Connection

    from shardwright.routing.server_client import ServerClient

log = logging.getLogger(__name__)

IN_USE_S = 10.0  # after the last read that a replica could have answered
LOOK_S = 15.0  # how often replicas are asked what they are while nobody reads from them
MIN_PROBE_S = 0.02
HISTORY_STEP_S = 0.01  # flush positions closer to each other than this are not both remembered
UNANSWERED = (OSError, TimeoutError, ServerUnavailable, asyncpg.PostgresError, asyncpg.InterfaceError)


class ReplicaSet:
    """The replicas of a server, as far as the map names them."""

    def __init__(
        self,
        primary: "ServerClient",
        options: PoolOptions,
        map_version: int,
        on_outdated_map: Callable[[], None],
    ) -> None:
        self._primary = primary
        self._on_outdated_map = on_outdated_map
        self.map_version = map_version
        """The version of the map by which the server's shards are known."""
        self.reads = self.fallbacks = 0
        """Reads that replicas answered, and those that they could have answered and the primary did."""
        self.unowned: frozenset[int] = frozenset()
        """Shards that the map places here, and that the server has fenced: they are about to move."""
        self._options = options
        self.since_version = map_version
        """The version of the map in which this process found the first replicas of the server."""
        self._replicas: dict[str, Replica] = {}
        self._turn = itertools.count()
        self._flushed = SharedCall(self._ask_primary)
        self._history: deque[Observation] = deque(maxlen=1024)
        self._floor: Observation | None = None
        self._floor_since = monotonic()
        self._history_step_s = max(HISTORY_STEP_S, options.replica_lag_limit_s / 256)
        self._wanted_at = float("-inf")
        self._looked_at = monotonic()
        self._followed_at = float("-inf")
        self._probe_s = options.replica_probe_s
        self._wake = asyncio.Event()
        self._closing: set[asyncio.Task[None]] = set()
        primary.primary.on_promotion.append(self.raise_floor)
        self._task = asyncio.create_task(self._watch(), name="shardwright-replicas")

    def set_addresses(self) -> None:
        """Know the replicas at the addresses that the server has now."""
        wanted = self._primary.primary.addresses
        gone = [replica for dsn, replica in self._replicas.items() if dsn not in wanted]
        self._replicas = {
            dsn: self._replicas.get(dsn) or Replica(self._primary, dsn, self._options) for dsn in wanted
        }
        if gone:
            task = asyncio.create_task(close_all(gone))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def apply_map(self, version: int, numbers: list[int]) -> None:
        """The server has these shards according to a new map: no replica answers before it has them as well."""
        self.map_version = version
        self.set_addresses()
        for replica in self._replicas.values():
            replica.client.assign_shards(numbers)
        self.raise_floor()

    def raise_floor(self) -> None:
        """Let no replica answer before it has everything that was there when this is called."""
        self._floor, self._floor_since = None, monotonic()

    @property
    def all(self) -> list[Replica]:
        """What is at any address of the server, its primary's included: that was a replica before, or will be one."""
        return list(self._replicas.values())

    @property
    def replicas(self) -> list[Replica]:
        """What is at all addresses but the primary's."""
        return [replica for dsn, replica in self._replicas.items() if dsn != self._primary.primary.dsn]

    def find(self, incarnation: str) -> Replica | None:
        """The replica of this incarnation, if it may answer."""
        return next((each for each in self._usable(None) if each.incarnation == incarnation), None)

    @property
    def timeline(self) -> int:
        """The timeline of the primary."""
        return self._primary.primary.timeline

    async def flushed(self, since: float) -> Observation:
        """The primary's flush position, asked for at this time or later; concurrent callers share one call."""
        return await self._flushed.after(since)

    async def choose(
        self, position: Position | None = None, since: float | None = None, only: Replica | None = None
    ) -> Replica | None:
        """A replica that has this position, and everything committed before this time; None: ask the primary.

        Waits for one for `replica_wait_s` at most. With `only`, no other replica will do.
        """
        now = monotonic()
        self._want(now, since)
        try:
            if position is not None and position.timeline > self.timeline:
                await self._follow_token(now)
            usable = self._usable(only)
            if not usable:
                return None
            needed = await self._needed(position, since)
        except UNANSWERED as error:
            log.info("primary.not_asked: of server %s: %r", self._primary.server.name, error)
            return None
        if needed is None:
            return None
        for replica in usable:
            if replica.has_reached(needed):
                return replica
        return await self._first_to_reach(usable, needed, now)

    async def close(self) -> None:
        """Stop asking, and close all connections to replicas."""
        self._task.cancel()
        await asyncio.gather(self._task, *self._closing, return_exceptions=True)
        await self._flushed.close()
        await close_all(list(self._replicas.values()))

    async def _follow_token(self, now: float) -> None:
        """A token knows of a later timeline: another process has seen a promotion, and its writes are there.

        Once a second at most: timelines that somebody made up cannot keep the servers busy.
        """
        if now - self._followed_at >= 1.0:
            self._followed_at = now
            self._primary.primary.doubt()
        await self._primary.primary.find()

    def _want(self, now: float, since: float | None) -> None:
        """Somebody reads: ask replicas regularly from now on, for short bounds more often."""
        if now - self._wanted_at > IN_USE_S:
            self._probe_s = self._options.replica_probe_s
            self._wake.set()
        self._wanted_at = now
        if since is not None:
            self._probe_s = max(MIN_PROBE_S, min(self._probe_s, (now - since) / 4))

    def _usable(self, only: Replica | None) -> list[Replica]:
        found = [
            replica
            for replica in self.replicas
            if not (replica.is_left_out or replica.client.breaker.is_open or replica.is_behind_pooler)
        ]
        if only is not None:
            return [only] if only in found else []
        start = next(self._turn) % len(found) if found else 0
        return [*found[start:], *found[:start]]

    async def _needed(self, position: Position | None, since: float | None) -> Position | None:
        """The position that answers the caller's needs and reaches the floor; None if only the primary can."""
        floor = self._floor
        if floor is None:
            floor = await self._set_floor()
        if floor.position.timeline != self.timeline or (position and position.timeline != self.timeline):
            return None
        lsn = max(floor.position.lsn, position.lsn if position else 0)
        if since is not None:
            seen = next((each for each in self._history if each.sent_at >= since), None)
            seen = seen or await self.flushed(since)
            if seen.position.timeline != self.timeline or seen.ownership != floor.ownership:
                return None
            lsn = max(lsn, seen.position.lsn)
        return Position(self.timeline, lsn)

    async def _set_floor(self) -> Observation:
        while True:
            since = self._floor_since
            found = await self.flushed(since)
            # Asked after the flush position: what is fenced between the two changes the count of ownership.
            unowned = await self._primary.ask(self._fenced)
            if since == self._floor_since:
                self._floor, self.unowned = found, unowned
                return found

    async def _fenced(self, conn: "Connection") -> frozenset[int]:
        return await fenced_shards(conn, self._primary.functions.numbers)

    async def _first_to_reach(self, usable: list[Replica], needed: Position, now: float) -> Replica | None:
        """Wait for whichever replica is first to replay so far; those known to be further behind are not waited for."""
        wait_s = self._options.replica_wait_s
        near = [replica for replica in usable if replica.lag_s is not None and replica.lag_s <= wait_s]
        if len(near) == 1:
            return near[0] if await near[0].reach(needed, now + wait_s) else None
        waiting = {asyncio.create_task(each.reach(needed, now + wait_s)): each for each in near}
        try:
            while waiting:
                done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    replica = waiting.pop(task)
                    if task.result():
                        return replica
        finally:
            for task in waiting:
                task.cancel()
        return None

    async def _ask_primary(self) -> Observation:
        found = await self._primary.ask(observe_primary)
        history = self._history
        if history and history[-1].position.timeline != found.position.timeline:
            history.clear()
        if not history or found.sent_at - history[-1].sent_at >= self._history_step_s:
            history.append(found)
        if self._floor is not None and found.ownership != self._floor.ownership:
            self._on_outdated_map()
            self.raise_floor()
        return found

    async def _watch(self) -> None:
        """Ask the primary and the replicas regularly while they are read from, or while the primary fails."""
        while True:
            now = monotonic()
            is_wanted = now - self._wanted_at < IN_USE_S
            if is_wanted or self._primary.breaker.failures or self._primary.primary.is_in_doubt:
                await self._probe(is_wanted=is_wanted)
            else:
                await self._look(now)
            self._wake.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._probe_s):
                    await self._wake.wait()

    async def _probe(self, *, is_wanted: bool) -> None:
        try:
            async with asyncio.timeout(self._options.connect_timeout_s):
                if self._primary.breaker.is_open:
                    self._primary.primary.doubt()
                    await self._primary.primary.find()
                    self._primary.breaker.record_success()  # it has answered just now
                await self._primary.primary.find()
                await self.flushed(monotonic())
        except UNANSWERED as error:
            self._primary.primary.doubt()
            log.info("primary.silent: of server %s: %r", self._primary.server.name, error)
        if is_wanted:
            await asyncio.gather(*(self._measure(replica) for replica in self.replicas))

    async def _look(self, now: float) -> None:
        """Nobody reads from replicas: ask seldom, for one may have been promoted beside a primary that goes on."""
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            await asyncio.gather(*(self._observe(replica) for replica in self.replicas))
        for replica in self._replicas.values():
            replica.close_idle_monitor()

    async def _observe(self, replica: Replica) -> Observation | None:
        try:
            return await replica.ask(monotonic())
        except ServerUnavailable as error:
            log.info("replica.silent: %s", error)
            return None

    async def _measure(self, replica: Replica) -> None:
        found = await self._observe(replica)
        if found is None:
            return
        replica.lag_s = self._lag_s(found) if found.is_standby else None
        was, limit_s = replica.is_left_out, self._options.replica_lag_limit_s
        replica.is_left_out = replica.lag_s is None or replica.lag_s > limit_s
        if replica.is_left_out and not was:
            log.warning("replica.left_out: one of server %s is %s s behind", replica.server, replica.lag_s)

    def _lag_s(self, found: Observation) -> float | None:
        """How far behind a replica was when it was asked; None when it does not replay the primary's timeline."""
        history = self._history
        if not history or found.position.timeline != history[-1].position.timeline:
            return None
        if found.position.lsn >= history[-1].position.lsn:
            return 0.0
        reached = [each.sent_at for each in history if each.position.lsn <= found.position.lsn]
        return found.sent_at - (reached[-1] if reached else history[0].sent_at)
