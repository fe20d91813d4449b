"""Keeps the side that does not own the rows up to date with the one that does.

A batch is journalled before it is applied and after it. One that was interrupted is read again up to the same position
and applied again, before anything else.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shardwright.adopt.applier import Applier
from shardwright.adopt.changes import Batch
from shardwright.adopt.errors import AdoptFailed
from shardwright.adopt.gather_all import gather_all
from shardwright.adopt.journal import Journal, Position
from shardwright.adopt.models import SOURCE, Adoption, AdoptOptions, AdoptProgress, OnProgress
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session
from shardwright.adopt.snapshots import Snapshots
from shardwright.adopt.streams import Find, Stream, parse_lsn
from shardwright.migrations import COMMON_SCHEMA
from shardwright.topology import fetch_value

_SHARD = re.compile(r"s[0-9]{4}")
_REPORT_S = 0.5
_IDLE_BYTES = 4 * 2**20
"""After so much WAL without a change of ours, the slot lets go of it."""


class _Look(NamedTuple):
    """What was read from a stream, up to `end_lsn`; or that it has had nothing for us up to `idle_lsn`."""

    name: str
    batch: Batch
    end_lsn: int
    idle_lsn: int


class Follower:
    """Follows the owner of the adoption's current turn."""

    def __init__(
        self, session: Session, journal: Journal, routes: Routes, options: AdoptOptions, progress: OnProgress
    ) -> None:
        self._journal, self._options, self._progress = journal, options, progress
        self._routes = routes
        self._snapshots = Snapshots.parse(journal.adoption.details.get("copied", {}))
        old, shards = session.sides(routes)
        if journal.adoption.is_switched:
            self.streams = shard_streams(session, journal.adoption, routes)
            self.applier = Applier(old, shards, routes, None)
        else:
            self.streams = {SOURCE: source_stream(session, journal.adoption, routes, self._snapshots)}
            self.applier = Applier(shards, old, routes, session.shard_map)
        self._changes = 0
        self._reported_at = time.monotonic()
        self._markers = dict.fromkeys(self.streams, 0)
        self._positions: dict[str, Position] = {}

    async def step(self, *, lets_go: bool = True) -> bool:
        """Apply a batch of each stream; whether there was any.

        While writers wait, nothing is let go of, and the journal has what was applied with the next step.
        """
        if not self._positions:
            self._positions = await self._journal.read_streams(self.streams)
        looks = await gather_all(self._look(name, lets_go=lets_go) for name in self.streams)
        found = [look for look in looks if look.end_lsn]
        await self._apply(found)
        done = {look.name: Position(look.end_lsn, look.end_lsn) for look in found}
        if lets_go:
            done |= {look.name: Position(look.idle_lsn, look.idle_lsn) for look in looks if look.idle_lsn}
        self._positions |= done
        if not lets_go:
            self._journal.defer_streams(done)
            return bool(found)
        await self._journal.set_streams(done)
        for name, position in done.items():
            await self.streams[name].advance(position.applied)
        return bool(found)

    async def _look(self, name: str, *, lets_go: bool) -> _Look:
        """Read a batch of a stream; one that was interrupted up to the same position."""
        stream, (applied, applying) = self.streams[name], self._positions[name]
        read_at = 0
        if lets_go:
            read_at = parse_lsn(await fetch_value(stream.conn, "SELECT pg_current_wal_flush_lsn()::text"))
        batch = Batch(self._routes.tables)
        up_to = applying if applying > applied else None
        read = await stream.read(batch, after=applied, up_to=up_to, limit=self._options.batch_changes)
        self._markers[name] = max([self._markers[name], *batch.markers])
        end = read.end_lsn or up_to or 0
        return _Look(name, batch, end, read_at if not end and read_at - applied > _IDLE_BYTES else 0)

    async def _apply(self, found: Sequence[_Look]) -> None:
        """Apply batches, whose ends are journalled before: interrupted ones are read again up to there."""
        filled = [look for look in found if not look.batch.is_empty]
        begun = {look.name: Position(self._positions[look.name].applied, look.end_lsn) for look in filled}
        if begun:
            await self._journal.set_streams(begun)
            self._positions |= begun
        for look in filled:
            await self.applier.apply(look.batch)
            self._changes += look.batch.changes

    async def send_markers(self) -> dict[str, int]:
        """Write a marker into every stream."""
        return {name: await stream.send_marker() for name, stream in self.streams.items()}

    async def drain(
        self, markers: Mapping[str, int], timeout_s: float | None = None, *, lets_go: bool = True
    ) -> float:
        """Apply until these markers were read; returns how long that took."""
        started_at = time.monotonic()
        while any(self._markers[name] < number for name, number in markers.items()):
            if timeout_s is not None and time.monotonic() - started_at > timeout_s:
                raise AdoptFailed(f"changes were not applied within {timeout_s:g} s: the owner goes on")
            if not await self.step(lets_go=lets_go):
                await asyncio.sleep(0.002)
            if timeout_s is None:
                await self._report("catching up")
        return time.monotonic() - started_at

    async def catch_up(self) -> None:
        """Everything that was committed before was applied, and it does not get faster any more."""
        last_s = float("inf")
        while (took_s := await self.drain(await self.send_markers())) < last_s / 2:
            if took_s < self._options.max_lag_s:
                return
            last_s = took_s

    async def settle(self) -> None:
        """Everything was applied, and further changes take a moment; raises where that cannot be."""
        took_s = 0.0
        for _ in range(self._options.fence_attempts):
            took_s = await self.drain(await self.send_markers())
            if took_s < self._options.max_lag_s:
                return
        raise AdoptFailed(
            f"changes take {took_s:.1f} s, for which writers would have to wait: try again when there are fewer, or "
            f"allow more than {self._options.max_lag_s:g} s (--max-lag)"
        )

    async def follow(self, seconds: float | None = None) -> None:
        """Go on until the time is over, or another process takes over."""
        ends_at = None if seconds is None else time.monotonic() + seconds
        while ends_at is None or time.monotonic() < ends_at:
            await self._journal.refresh()
            if not await self.step():
                await self._report("following")
                await asyncio.sleep(self._options.poll_s)

    async def _report(self, doing: str) -> None:
        if time.monotonic() - self._reported_at < _REPORT_S:
            return
        self._reported_at = time.monotonic()
        lags = [await stream.lag_bytes() for stream in self.streams.values()]
        self._progress(
            AdoptProgress(
                self._journal.adoption,
                doing,
                self._changes,
                lag_bytes=max((lag or 0 for lag in lags), default=0),
            )
        )


def source_stream(session: Session, adoption: Adoption, routes: Routes, snapshots: Snapshots) -> Stream:
    """The changes of the old database; those that a table's copy contains are left out."""
    tables = set(routes.plan.tables)

    def find(schema: str, name: str) -> str | None:
        return name if schema == routes.plan.schema and name in tables else None

    return Stream(session.source, f"{adoption.name}_0", find=find, skip=snapshots.contain)


def shard_streams(session: Session, adoption: Adoption, routes: Routes) -> dict[str, Stream]:
    """The changes of shards, by server. Those of lookup tables are taken from the server of shard 0."""
    home = session.shard_map.server_of(0).name
    return {
        name: Stream(
            conn,
            f"{adoption.name}_1_{hashlib.sha256(name.encode()).hexdigest()[:6]}",
            find=_finder(routes, takes_lookups=name == home),
            skip=lambda _table, _xid: False,
        )
        for name, conn in session.servers.items()
    }


def _finder(routes: Routes, *, takes_lookups: bool) -> Find:
    followers, lookups = set(routes.plan.followers), set(routes.plan.lookups)

    def find(schema: str, name: str) -> str | None:
        if _SHARD.fullmatch(schema):
            return name if name in followers else None
        return name if takes_lookups and schema == COMMON_SCHEMA and name in lookups else None

    return find


def published_tables(session: Session, routes: Routes, server: str) -> Sequence[str]:
    """The tables of a server's shards whose changes are kept."""
    side = session.sides(routes)[1]
    home = session.shard_map.server_of(0).name
    names = [*routes.plan.followers, *(routes.plan.lookups if server == home else ())]
    return [place.table(name) for name in names for place in side.places[name] if place.server == server]
