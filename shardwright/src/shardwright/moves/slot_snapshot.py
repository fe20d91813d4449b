"""A replication slot, and the snapshot of the moment at which its changes begin, for connections of our own.

Rows that are read by the snapshot and changes that are read from the slot are everything, and nothing twice. Only the
replication protocol gives the snapshot; it lasts as long as the connection that created the slot.
"""

from typing import TYPE_CHECKING, cast

from shardwright.moves.session import open_server
from shardwright.topology import Server

if TYPE_CHECKING:
    from asyncpg import Connection


class SlotSnapshot:
    """The snapshot of a new slot, held open by a connection of its own."""

    def __init__(self, conn: "Connection", name: str) -> None:
        self._conn = conn
        self._name = name

    @classmethod
    async def create(cls, server: Server, slot: str) -> "SlotSnapshot":
        """Create a slot; waits until transactions that are open now have ended."""
        conn = await open_server(server, {"replication": "database"})
        try:
            await conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            await conn.execute(f"CREATE_REPLICATION_SLOT {slot} LOGICAL pgoutput (SNAPSHOT 'use')")
            # asyncpg reads no rows over this protocol; but the server reports this setting whenever it changes.
            await conn.execute("SELECT set_config('application_name', pg_export_snapshot(), false)")
            return cls(conn, cast("str", conn.get_settings().application_name))
        except BaseException:
            conn.terminate()
            raise

    @property
    def begin_sql(self) -> str:
        """The statements that begin a transaction of another connection which sees this snapshot."""
        return f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{self._name}'"

    def close(self) -> None:
        """Let go of the snapshot; the slot stays."""
        self._conn.terminate()
