"""Streams of changes: a publication, a slot and a marker table of one name in a database, read over plain SQL.

`pg_logical_slot_peek_binary_changes` shows changes without consuming them; the slot is advanced when they were applied
and the journal says so. A marker that was read says that everything committed before it was read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from shardwright.adopt.changes import Batch
from shardwright.adopt.errors import AdoptFailed
from shardwright.adopt.pgoutput import Begin, Commit, Message, Relation, RowChange, Truncate, decode
from shardwright.moves import drop_slots
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

SCHEMA = "shardwright_adopt"
"""Where marker tables and the fence's functions are."""

_PEEK = """\
SELECT data FROM pg_catalog.pg_logical_slot_peek_binary_changes($1, $2::text::pg_lsn, $3, 'proto_version', '1',
  'publication_names', $4)
"""
_HAS_SLOT = (
    "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database())"
)
_LAG = """\
SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn)::bigint FROM pg_replication_slots WHERE slot_name = $1
"""

Find = Callable[[str, str], str | None]
"""The name in the plan of a table by its schema and name; None for one that is not copied."""
Skip = Callable[[str, int], bool]
"""Whether the changes of a table by a transaction (its xid) are known already."""


@dataclass(frozen=True)
class Read:
    """What was read from a stream, up to `end_lsn`; zero where there was nothing."""

    batch: Batch
    end_lsn: int


def lsn_text(lsn: int) -> str:
    """An LSN as PostgreSQL writes it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def parse_lsn(text: str) -> int:
    """The number of an LSN."""
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)


class Stream:
    """Changes of one database."""

    def __init__(self, conn: "Connection", name: str, *, find: Find, skip: Skip) -> None:
        self.conn, self.name = conn, name
        self._find, self._skip = find, skip

    async def create(self, tables: Sequence[str]) -> None:
        """Begin to keep changes of these tables; what is there already is left alone."""
        marker = f"{SCHEMA}.{self.name}"
        await self.conn.execute(
            f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; "
            f"CREATE TABLE IF NOT EXISTS {marker} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"
        )
        if not await fetch_value(
            self.conn, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)", self.name
        ):
            await self.conn.execute(
                f"CREATE PUBLICATION {self.name} FOR TABLE {', '.join([*tables, marker])} "
                "WITH (publish_via_partition_root = true)"
            )
        if not await self.exists():
            await self.conn.execute("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", self.name)

    async def exists(self) -> bool:
        """Whether changes are kept."""
        return await fetch_value(self.conn, _HAS_SLOT, self.name)

    async def drop(self) -> None:
        """Nothing is left of the stream."""
        await self.conn.execute(f"DROP PUBLICATION IF EXISTS {self.name}")
        await drop_slots(self.conn, f"^{self.name}$")
        await self.conn.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{self.name}")

    async def send_marker(self) -> int:
        """Write a marker."""
        return await fetch_value(
            self.conn, f"INSERT INTO {SCHEMA}.{self.name} DEFAULT VALUES RETURNING number"
        )

    async def reserve_marker(self) -> int:
        """The number of a marker that `marker_sql` will write."""
        sequence = "SELECT nextval(pg_get_serial_sequence($1, 'number'))"
        return await fetch_value(self.conn, sequence, f"{SCHEMA}.{self.name}")

    def marker_sql(self, number: int) -> str:
        """The statement that writes a marker whose number was reserved."""
        return f"INSERT INTO {SCHEMA}.{self.name} (number) OVERRIDING SYSTEM VALUE VALUES ({number:d})"

    async def lag_bytes(self) -> int | None:
        """How much was written there since what was applied."""
        return await fetch_value(self.conn, _LAG, self.name)

    async def read(self, batch: Batch, *, after: int, up_to: int | None, limit: int) -> Read:
        """Read transactions that ended after an LSN, up to another one or about so many changes."""
        bounds = (lsn_text(up_to), None) if up_to else (None, limit)
        try:
            rows = await fetch_rows(self.conn, _PEEK, self.name, *bounds, self.name)
        except asyncpg.ObjectNotInPrerequisiteStateError as error:
            raise AdoptFailed(
                f"changes of {self.name} are lost, for their WAL was removed (see max_slot_wal_keep_size): "
                f"abort the adoption and start it again ({error})"
            ) from error
        reader = _TransactionReader(self.name, batch, self._find, self._skip, after, up_to)
        for row in rows:
            reader.add(row["data"])
        return Read(batch, reader.end_lsn)

    async def advance(self, lsn: int) -> None:
        """Let go of everything up to an LSN."""
        await self.conn.execute(
            "SELECT pg_replication_slot_advance($1, $2::text::pg_lsn)", self.name, lsn_text(lsn)
        )


class _TransactionReader:
    """Collects messages of whole transactions into a batch."""

    def __init__(  # noqa: PLR0917 - what a reader has to know
        self, name: str, batch: Batch, find: Find, skip: Skip, after: int, up_to: int | None
    ) -> None:
        self._name, self._batch, self._find, self._skip = name, batch, find, skip
        self._after, self._up_to = after, up_to
        self._relations: dict[int, Relation] = {}
        self._tables: dict[int, str | None] = {}
        self._pending: list[Message] = []
        self._xid = 0
        self.end_lsn = 0

    def add(self, data: bytes) -> None:
        """Take the next message; a transaction counts with its commit."""
        message = decode(data)
        match message:
            case Begin(xid):
                self._xid, self._pending = xid, []
            case Relation():
                self._relations[message.oid] = message
                self._tables[message.oid] = self._find(message.schema, message.name)
            case RowChange() | Truncate():
                self._pending.append(message)
            case Commit(end_lsn):
                self._commit(end_lsn)
            case None:
                pass

    def _commit(self, end_lsn: int) -> None:
        if end_lsn <= self._after or (self._up_to is not None and end_lsn > self._up_to):
            return
        self.end_lsn = end_lsn
        for message in self._pending:
            if isinstance(message, RowChange):
                self._change(message)
            elif isinstance(message, Truncate):
                for oid in message.oids:
                    self._truncate(oid)

    def _change(self, change: RowChange) -> None:
        relation = self._relations[change.oid]
        if (relation.schema, relation.name) == (SCHEMA, self._name):
            if change.new is not None:
                self._batch.markers.append(int((change.new[0] or b"0").decode()))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType] - the key is never left out
            return
        table = self._tables[change.oid]
        if table is not None and not self._skip(table, self._xid):
            self._batch.changes += 1
            self._batch.of(table).add(relation, change)

    def _truncate(self, oid: int) -> None:
        table = self._tables[oid]
        if table is not None and not self._skip(table, self._xid):
            self._batch.changes += 1
            self._batch.of(table).empty()
