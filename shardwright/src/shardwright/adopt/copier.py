"""Copies tables of the old database into shards, each at one snapshot, while the old database goes on.

Which transactions a snapshot contains is journalled with its table: their changes are left out later. A table whose
copying was interrupted is emptied and copied again; the others are kept.
"""

import asyncio
import re
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from shardwright.adopt.journal import Journal
from shardwright.adopt.models import AdoptOptions, AdoptProgress, OnProgress
from shardwright.adopt.routes import Routes
from shardwright.adopt.session import Session, open_source
from shardwright.adopt.sides import Place, Side
from shardwright.ids import schema_name
from shardwright.moves import replica_lag_bytes
from shardwright.topology import fetch_value
from shardwright.widen import quote

if TYPE_CHECKING:
    from asyncpg import Connection

_FLUSH_BYTES = 256 * 1024
_ALL_BYTES = 32 * 1024 * 1024
_ESCAPES = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_ESCAPE = re.compile(rb"\\(.)")
_REPORT_S = 0.2
_TENANTS = 500_000
"""How many tenants' places are remembered at a time."""


class Copier:
    """Copies what the journal does not name as copied."""

    def __init__(  # noqa: PLR0917 - what copying needs
        self,
        dsn: str,
        session: Session,
        journal: Journal,
        routes: Routes,
        options: AdoptOptions,
        progress: OnProgress,
    ) -> None:
        self._dsn, self._session, self._journal = dsn, session, journal
        self._routes, self._options, self._progress = routes, options, progress
        self._shards: Side = session.sides(routes)[1]
        self._rows = self._bytes = 0
        self._reported_at = self._started_at = time.monotonic()

    async def run(self) -> None:
        """Every table is copied."""
        conn = await open_source(self._dsn)
        try:
            await self._run(conn)
        finally:
            conn.terminate()

    async def _run(self, conn: "Connection") -> None:
        done: dict[str, Any] = dict(self._journal.adoption.details.get("copied", {}))
        left = [name for name in self._routes.plan.tables if name not in done]
        self._rows = sum(each["rows"] for each in done.values())
        async with conn.transaction(isolation="repeatable_read", readonly=True):
            snapshot = await fetch_value(conn, "SELECT pg_current_snapshot()::text")
            for name in left:
                before = self._rows
                await self._shards.empty(name)
                await _TableCopy(self, conn, name).run()
                done[name] = {"snapshot": snapshot, "rows": self._rows - before}
                await self._journal.note({"copied": done})
        for place_conn in self._session.servers.values():
            await self._analyze(place_conn)

    async def _analyze(self, conn: "Connection") -> None:
        """Statistics for the searches that applying makes."""
        for name in self._routes.plan.tables:
            for place in self._shards.places[name]:
                if self._session.servers[place.server] is conn:
                    await conn.execute(f"ANALYZE {place.table(name)}")

    async def wait(self, name: str, size_bytes: int) -> None:
        """Count what was copied, and return when more may be."""
        self._bytes += size_bytes
        if self._options.copy_bytes_per_s:
            allowed_at = self._started_at + self._bytes / self._options.copy_bytes_per_s
            await asyncio.sleep(max(0.0, allowed_at - time.monotonic()))
        if self._options.max_replica_lag_bytes:
            for conn in self._session.servers.values():
                await self._wait_for_replicas(conn)
        self.report(name)

    async def _wait_for_replicas(self, conn: "Connection") -> None:
        while await replica_lag_bytes(conn) > self._options.max_replica_lag_bytes:  # noqa: ASYNC110 - a server is asked
            await asyncio.sleep(self._options.poll_s)

    def count(self, rows: int) -> None:
        """Count rows that were read."""
        self._rows += rows

    def report(self, name: str) -> None:
        """Say how far copying is, a few times a second."""
        now = time.monotonic()
        if now - self._reported_at < _REPORT_S:
            return
        self._reported_at = now
        total = sum(table.rows for table in self._routes.tables.values())
        self._progress(
            AdoptProgress(self._journal.adoption, f"copying {name}", self._rows, max(total, self._rows))
        )

    def places_of(self, name: str, tenant: bytes) -> tuple[Place, ...]:
        """Where a row of this tenant goes; a lookup table's goes everywhere."""
        if name in self._routes.plan.lookups:
            return tuple(self._shards.places[name])
        shard = self._routes.shard_of(_unescape(tenant))
        return (Place(self._session.shard_map.server_of(shard).name, schema_name(shard)),)

    def query(self, name: str) -> str:
        """The rows of a table with their tenant first."""
        columns = ", ".join(f"t0.{quote(each)}" for each in self._routes.tables[name].stored)
        schema = self._routes.plan.schema
        if name in self._routes.plan.lookups or self._routes.is_constant:
            return f"SELECT NULL, {columns} FROM {quote(schema)}.{quote(name)} AS t0"
        tenant, joins = self._routes.tenant_sql(name, schema)
        return f"SELECT {tenant}, {columns} {joins}"

    async def flush(self, name: str, place: Place, lines: list[bytes]) -> None:
        """Write rows to their place."""
        data = b"\n".join(lines) + b"\n"
        await self._shards.copy_in(place, self._routes.tables[name], data)
        await self.wait(name, len(data))


class _TableCopy:
    """Divides the rows of one table among places, as they arrive."""

    def __init__(self, copier: Copier, conn: "Connection", name: str) -> None:
        self._copier, self._conn, self._name = copier, conn, name
        self._rest = b""
        self._lines: dict[Place, list[bytes]] = defaultdict(list)
        self._sizes: dict[Place, int] = defaultdict(int)
        self._places: dict[bytes, tuple[Place, ...]] = {}

    async def run(self) -> None:
        """Every row of the snapshot is at its place."""
        conn = cast("Any", self._conn)
        await conn.copy_from_query(self._copier.query(self._name), output=self._take)
        for place in list(self._lines):
            await self._flush(place)

    async def _take(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        self._copier.count(len(lines))
        for line in lines:
            tenant, _, row = line.partition(b"\t")
            for place in self._find(tenant):
                self._lines[place].append(row)
                self._sizes[place] += len(row) + 1
        full = [place for place, size in self._sizes.items() if size > _FLUSH_BYTES]
        if sum(self._sizes.values()) > _ALL_BYTES:
            full = list(self._lines)
        for place in full:
            await self._flush(place)

    def _find(self, tenant: bytes) -> tuple[Place, ...]:
        found = self._places.get(tenant)
        if found is None:
            if len(self._places) >= _TENANTS:
                self._places.clear()
            found = self._places[tenant] = self._copier.places_of(self._name, tenant)
        return found

    async def _flush(self, place: Place) -> None:
        lines = self._lines.pop(place, [])
        self._sizes.pop(place, None)
        if lines:
            await self._copier.flush(self._name, place, lines)


def _unescape(value: bytes) -> str | None:
    if value == b"\\N":
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), value).decode()
