"""Copies the rows of a move's tables: COPY from the source into COPY at the target, several tables at once.

The target's tables have no index yet. PostgreSQL's own initial copy of a subscription needs the primary key from the
beginning, and maintains it row by row. Rows pass through this process, which is what lets it slow them down.

Each table is read in a transaction of its own: whoever wants to drop a partition waits for that one's copy alone.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import asyncpg

from shardwright.ids import shard_number
from shardwright.migrations import LOCK_CLASS
from shardwright.moves.errors import MoveRefused
from shardwright.moves.models import Move, MoveOptions
from shardwright.moves.parallel import run_all, share_out
from shardwright.moves.session import Session, open_server
from shardwright.moves.slot_snapshot import SlotSnapshot
from shardwright.moves.structure import create_partitions, read_partitions
from shardwright.moves.throttle import Throttle
from shardwright.topology import Server, fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

_CHUNK_BYTES = 256 * 1024
_CHUNKS_AHEAD = 2
_BYTES_PER_JOB = 8 * 2**20
"""A further pair of connections costs as much as copying a few of these."""
_FREEZE_BYTES = 2**20
"""From this size on rows are written frozen: no VACUUM has to come back to them. It takes a TRUNCATE."""

# Values as text must not depend on the servers' settings.
_PLAIN = """\
SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex';
SET LOCAL extra_float_digits = 1; SET LOCAL lc_monetary = 'C';
SELECT set_config('client_encoding', getdatabaseencoding(), true);
"""
_NO_TRIGGERS = "SET LOCAL session_replication_role = 'replica';\n"  # nor guards, nor foreign keys
_TABLES = """\
SELECT n.nspname AS schema, c.relname AS name, format('%I.%I', n.nspname, c.relname) AS quoted,
  coalesce(pg_relation_size(c.oid), 0) AS size_bytes,
  array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_catalog.pg_namespace n
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE n.nspname = ANY ($1::text[]) GROUP BY n.nspname, c.oid, c.relname ORDER BY size_bytes DESC, schema, name
"""
_IS_LED = f"""\
SELECT EXISTS (SELECT FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND pid = $1
  AND classid = {LOCK_CLASS} AND objid = $2::bigint AND objsubid = 2)
"""  # noqa: S608 - a constant of the library

_CHANGED = (asyncpg.UndefinedColumnError, asyncpg.UndefinedTableError, asyncpg.DataError)


class Table(NamedTuple):
    """A table to copy; generated columns are computed at the target."""

    schema: str
    name: str
    quoted: str
    size_bytes: int
    columns: list[str]

    @property
    def what(self) -> dict[str, Any]:
        """Names it for COPY."""
        return {"table_name": self.name, "schema_name": self.schema, "columns": self.columns}


@dataclass
class Copied:
    """How far a copy is."""

    tables: int = 0
    tables_copied: int = 0
    rows: int = 0
    """Those of tables that are copied."""
    size_bytes: int = 0
    """What was read."""


class RowCopy:
    """Copies every table as a snapshot sees it, into tables that are empty."""

    def __init__(self, session: Session, move: Move, snapshot: SlotSnapshot, options: MoveOptions) -> None:
        self._session, self._move, self._snapshot = session, move, snapshot
        self._options = options
        self._throttle = Throttle(options)
        self._turn = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._tables: list[Table] = []
        self._watching: Session | None = None
        self.copied = Copied()

    async def __aenter__(self) -> Self:
        """Find out what there is to copy, and connect; the target gets partitions that it lacks."""
        try:
            self._tables = await self._read_tables(self._session.source)
            size_bytes = sum(table.size_bytes for table in self._tables)
            jobs = min(self._options.copy_jobs, len(self._tables), 1 + size_bytes // _BYTES_PER_JOB)
            self._pairs = [self._session, *[await self._open_session() for _ in range(1, jobs)]]
            if self._throttle.is_on:
                self._throttled = await self._open_session()
        except BaseException:
            await self._stack.aclose()
            raise
        self.copied.tables = len(self._tables)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close its connections."""
        await self._stack.aclose()

    async def run(self) -> None:
        """Copy every table; the session's own connections are busy meanwhile."""
        await share_out(self._pairs, self._tables, self._copy_table)

    async def watching(self) -> Session:
        """Connections by which the copy can be watched while it runs."""
        if self._watching is None:
            self._watching = await self._open_session()
        return self._watching

    async def _open_session(self) -> Session:
        source, target = await asyncio.gather(
            self._open(self._session.source_server), self._open(self._session.target_server)
        )
        return replace(self._session, source=source, target=target)

    async def _open(self, server: Server) -> "Connection":
        conn = await open_server(server)
        self._stack.callback(conn.terminate)
        return conn

    async def _read_tables(self, conn: "Connection") -> list[Table]:
        """The tables of the snapshot, large ones first."""
        await conn.execute(self._snapshot.begin_sql)
        partitions = await read_partitions(conn, self._move.schemas)
        tables = [Table(*row) for row in await fetch_rows(conn, _TABLES, self._move.schemas)]
        await conn.execute("COMMIT")
        found = await read_partitions(self._session.target, self._move.schemas)
        there = {(each.schema, each.name) for each in found}
        await create_partitions(
            self._session, [each for each in partitions if (each.schema, each.name) not in there]
        )
        return tables

    async def _copy_table(self, pair: Session, table: Table) -> None:
        chunks: asyncio.Queue[bytearray] = asyncio.Queue(_CHUNKS_AHEAD)
        try:
            await run_all([self._read(pair.source, table, chunks), self._write(pair.target, table, chunks)])
        except _CHANGED as error:
            raise MoveRefused(
                f"{table.quoted} was changed during {self._move}: undo the change, or abort the move and start it "
                f"again ({error})"
            ) from error
        self.copied.tables_copied += 1

    async def _read(self, conn: "Connection", table: Table, chunks: "asyncio.Queue[bytearray]") -> None:
        """Put the table's rows into the queue, and an empty chunk after the last."""
        chunk = bytearray()

        async def put(data: bytes) -> None:
            nonlocal chunk
            chunk += data
            if len(chunk) >= _CHUNK_BYTES:
                await self._pace(len(chunk))
                await chunks.put(chunk)
                chunk = bytearray()

        await conn.execute(f"{self._snapshot.begin_sql};\n{_PLAIN}")
        with suppress(asyncpg.UndefinedTableError):  # a partition that was dropped since the snapshot
            await conn.copy_from_table(**table.what, output=put)
        await conn.execute("COMMIT")
        if chunk:
            await self._pace(len(chunk))
            await chunks.put(chunk)
        await chunks.put(bytearray())

    async def _pace(self, size_bytes: int) -> None:
        self.copied.size_bytes += size_bytes
        if self._throttle.is_on:
            async with self._turn:
                await self._throttle.wait(self.copied.size_bytes, self._throttled)

    async def _write(self, conn: "Connection", table: Table, chunks: "asyncio.Queue[bytearray]") -> None:
        first = await chunks.get()
        if not first:
            return

        async def rows() -> AsyncIterator[bytearray]:
            chunk = first
            while chunk:
                yield chunk
                chunk = await chunks.get()

        is_frozen = table.size_bytes >= _FREEZE_BYTES
        how = "TRUNCATE ONLY {}" if is_frozen else "LOCK TABLE ONLY {} IN ROW EXCLUSIVE MODE"
        async with conn.transaction():
            await conn.execute(_PLAIN + _NO_TRIGGERS + how.format(table.quoted))
            await self._check_led(conn, table)
            done = cast("str", await conn.copy_to_table(**table.what, source=rows(), freeze=is_frozen))
        self.copied.rows += int(done.removeprefix("COPY "))

    async def _check_led(self, conn: "Connection", table: Table) -> None:
        """Raise when the session has lost its lock: another coordinator may have created the table anew."""
        leader = cast("int", self._session.target.get_server_pid())
        if not await fetch_value(conn, _IS_LED, leader, shard_number(table.schema)):
            raise MoveRefused(f"another process has taken over {self._move}: see `shardwright move status`")
