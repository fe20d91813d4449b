"""Links of logical replication between two servers: publication, slot, subscription and marker table of one name.

Slots are created and dropped on their own, never by CREATE or DROP SUBSCRIPTION: so every part can be looked for and
repeated, and two databases of one server can be linked. A row of the marker table that has arrived says that
everything committed before it has arrived; waiting for the slot's position instead takes seconds.

Changes that were applied from the other server are not sent back (`origin = none`).
"""

import asyncio
import time
from typing import TYPE_CHECKING

import asyncpg

from shardwright.moves.errors import MoveFailed
from shardwright.moves.models import Move
from shardwright.topology import SERVER_LOCK, fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

SCHEMA = "shardwright_moves"
"""Where marker tables are, on servers that take part in a move."""

_PAUSE_S = 0.02
_MARKER_PAUSE_S = 0.002
_DROP_TIMEOUT_S = 30.0
_SLOT = "SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1 AND database = current_database()"


async def create_marker(conn: "Connection", link: str) -> None:
    """Create the link's marker table."""
    async with conn.transaction():
        await conn.execute(SERVER_LOCK)
        await conn.execute(
            f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; "
            f"CREATE TABLE IF NOT EXISTS {SCHEMA}.{link} (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"
        )


async def drop_marker(conn: "Connection", link: str) -> None:
    """Drop the link's marker table, and the schema with the last of them."""
    async with conn.transaction():
        await conn.execute(SERVER_LOCK)
        await conn.execute(f"DROP TABLE IF EXISTS {SCHEMA}.{link}")
        left = "SELECT count(*) FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r'"
        if await fetch_value(conn, left, SCHEMA) == 0:
            await conn.execute(f"DROP SCHEMA IF EXISTS {SCHEMA}")


async def publish(conn: "Connection", move: Move, link: str) -> None:
    """Create the publication and the slot; the slot waits until transactions that are open now have ended."""
    await create_marker(conn, link)
    if not await fetch_value(conn, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)", link):
        listed = ", ".join(move.schemas)
        await conn.execute(f"CREATE PUBLICATION {link} FOR TABLES IN SCHEMA {listed}, TABLE {SCHEMA}.{link}")
    if not await fetch_rows(conn, _SLOT, link):
        await conn.execute("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", link)


async def subscribe(conn: "Connection", link: str, publisher_dsn: str, *, copy: bool) -> None:
    """Create the subscription, which begins to copy rows, or to apply what was changed since the slot was created."""
    await create_marker(conn, link)
    if await fetch_value(conn, _HAS_SUBSCRIPTION, link):
        return
    quoted = publisher_dsn.replace("'", "''")
    await conn.execute(
        f"CREATE SUBSCRIPTION {link} CONNECTION '{quoted}' PUBLICATION {link} WITH (create_slot = false, "
        f"slot_name = '{link}', copy_data = {str(copy).lower()}, origin = none)"
    )


_HAS_SUBSCRIPTION = (
    "SELECT EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid "
    "WHERE s.subname = $1 AND d.datname = current_database())"
)


async def refresh(conn: "Connection", link: str) -> None:
    """Take tables that were created or dropped since into the subscription; new ones are copied."""
    await conn.execute(f"ALTER SUBSCRIPTION {link} REFRESH PUBLICATION WITH (copy_data = true)")


async def unsubscribe(conn: "Connection", link: str) -> str | None:
    """Drop the subscription, whether or not its publisher answers; returns the pattern of slots it may leave there."""
    rows = await fetch_rows(
        conn,
        "SELECT s.oid::text AS oid, (SELECT system_identifier FROM pg_control_system())::text AS system "
        "FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid "
        "WHERE s.subname = $1 AND d.datname = current_database()",
        link,
    )
    if not rows:
        return None
    await conn.execute(f"ALTER SUBSCRIPTION {link} DISABLE")
    await conn.execute(f"ALTER SUBSCRIPTION {link} SET (slot_name = NONE)")
    await conn.execute(f"DROP SUBSCRIPTION {link}")
    return f"^pg_{rows[0]['oid']}_sync_[0-9]+_{rows[0]['system']}$"


async def unpublish(conn: "Connection", link: str) -> None:
    """Drop the publication and the slot."""
    await conn.execute(f"DROP PUBLICATION IF EXISTS {link}")
    await drop_slots(conn, f"^{link}$")


async def drop_slots(conn: "Connection", pattern: str) -> None:
    """Drop slots whose name matches, once those who use them have let go; raises when they do not."""
    deadline = time.monotonic() + _DROP_TIMEOUT_S
    while rows := await fetch_rows(
        conn,
        "SELECT slot_name, active_pid FROM pg_replication_slots WHERE slot_name ~ $1 AND database = current_database()",
        pattern,
    ):
        for row in rows:
            if row["active_pid"] is not None:
                await conn.execute("SELECT pg_terminate_backend($1)", row["active_pid"])
            try:
                await conn.execute("SELECT pg_drop_replication_slot($1)", row["slot_name"])
            except (asyncpg.ObjectInUseError, asyncpg.UndefinedObjectError):
                if time.monotonic() > deadline:
                    raise
        await asyncio.sleep(_PAUSE_S)


async def send_marker(conn: "Connection", link: str) -> int:
    """Write a marker; in a transaction, it arrives with what the transaction did."""
    return await fetch_value(conn, f"INSERT INTO {SCHEMA}.{link} DEFAULT VALUES RETURNING number")  # noqa: S608 - a name of the library


async def has_marker(conn: "Connection", link: str, marker: int) -> bool:
    """Whether the marker, and so everything committed before it, has arrived."""
    return await fetch_value(conn, f"SELECT EXISTS (SELECT FROM {SCHEMA}.{link} WHERE number >= $1)", marker)  # noqa: S608 - a name of the library


async def wait_for_marker(conn: "Connection", link: str, marker: int, timeout_s: float) -> float:
    """Wait until the marker has arrived; returns how long that took, and raises when it does not in time."""
    started = time.monotonic()
    while not await has_marker(conn, link, marker):
        if time.monotonic() - started > timeout_s:
            raise MoveFailed(
                f"changes did not arrive within {timeout_s:g} s: see the log of the subscribing server"
            )
        await asyncio.sleep(_MARKER_PAUSE_S)
    return time.monotonic() - started
