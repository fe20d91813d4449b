"""Links of logical replication between two servers: publication, slot, subscription and marker table of one name.

Slots are created and dropped on their own, never by CREATE or DROP SUBSCRIPTION: so every part can be looked for and
repeated, and two databases of one server can be linked. A row of the marker table that has arrived says that
everything committed before it has arrived; waiting for the slot's position instead takes seconds.

Changes that were applied from the other server are not sent back (`origin = none`).
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import asyncpg

from shardwright.moves.errors import MoveFailed
from shardwright.topology import SERVER_LOCK, fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

SCHEMA = "shardwright_moves"
"""Where marker tables are, on servers that take part in a move."""

_PAUSE_S = 0.02
_MARKER_PAUSE_S = 0.002
_DROP_TIMEOUT_S = 30.0
_FIRST_OWN_TYPE = 16384
_HAS_OWN_TYPES = """\
SELECT EXISTS (
  SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE n.nspname = ANY ($1::text[]) AND (t.oid >= $2::bigint OR t.typsend = 0 OR t.typreceive = 0
    OR coalesce(nullif(t.typelem, 0), t.oid) = ANY ('{regclass, regcollation, regconfig, regdictionary, regnamespace,
      regoper, regoperator, regproc, regprocedure, regrole, regtype}'::regtype[])))
"""
_SLOT = "SELECT active_pid FROM pg_catalog.pg_replication_slots WHERE slot_name = $1 AND database = current_database()"

_LAG = """\
SELECT greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), confirmed_flush_lsn))::bigint AS lag,
  wal_status = 'lost' AS is_lost
FROM pg_catalog.pg_replication_slots WHERE slot_name = $1 AND database = current_database()
"""


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


async def publish(conn: "Connection", schemas: Sequence[str], link: str) -> None:
    """Create the publication."""
    await create_marker(conn, link)
    if not await fetch_value(conn, "SELECT EXISTS (SELECT FROM pg_publication WHERE pubname = $1)", link):
        listed = ", ".join(schemas)
        await conn.execute(f"CREATE PUBLICATION {link} FOR TABLES IN SCHEMA {listed}, TABLE {SCHEMA}.{link}")


async def keep_changes(conn: "Connection", link: str) -> None:
    """Create the slot; waits until transactions that are open now have ended."""
    if not await fetch_rows(conn, _SLOT, link):
        await conn.execute("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", link)


async def lag_bytes(conn: "Connection", link: str) -> int | None:
    """How much WAL the slot's subscriber has not confirmed; None when its changes are lost.

    PostgreSQL removes WAL beyond `max_slot_wal_keep_size`, and a replica that is promoted does not have the slot.
    """
    rows = await fetch_rows(conn, _LAG, link)
    return None if not rows or rows[0]["is_lost"] else rows[0]["lag"]


async def has_built_in_types(conn: "Connection", schemas: Sequence[str]) -> bool:
    """Whether PostgreSQL itself brings the types of all columns: others have another number on each server.

    So have the objects that values of `regclass` and its kin stand for.
    """
    return not await fetch_value(conn, _HAS_OWN_TYPES, list(schemas), _FIRST_OWN_TYPE)


async def subscribe(conn: "Connection", link: str, publisher_dsn: str, *, binary: bool = False) -> None:
    """Create the subscription, which begins to apply what was changed since the slot was created.

    `binary` spares the servers to print and parse values; arrays of types that are not built in would be refused.
    """
    await create_marker(conn, link)
    quoted = publisher_dsn.replace("'", "''")
    await conn.execute(
        f"CREATE SUBSCRIPTION {link} CONNECTION '{quoted}' PUBLICATION {link} WITH (create_slot = false, "
        f"slot_name = '{link}', copy_data = false, binary = {str(binary).lower()}, origin = none)"
    )


_IS_COPYING = (
    "SELECT EXISTS (SELECT FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid "
    "WHERE s.subname = $1 AND r.srsubstate <> 'r')"
)
_HAS_SUBSCRIPTION = (
    "SELECT EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid "
    "WHERE s.subname = $1 AND d.datname = current_database())"
)


# Rows of a table that is not in the subscription are passed over without a word.
_LACKS_TABLES = """\
SELECT EXISTS (
  SELECT FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'
  WHERE n.nspname = ANY ($2::text[]) AND n.nspname || '.' || c.relname <> ALL ($3::text[]) AND NOT EXISTS (
    SELECT FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid
    WHERE s.subname = $1 AND r.srrelid = c.oid))
"""


async def is_subscribed(conn: "Connection", link: str) -> bool:
    """Whether the server has the subscription."""
    return await fetch_value(conn, _HAS_SUBSCRIPTION, link)


async def lacks_tables(conn: "Connection", link: str, schemas: Collection[str], but: Collection[str]) -> bool:
    """Whether the server has tables in these schemas, but for some, that are not in the subscription."""
    return await fetch_value(conn, _LACKS_TABLES, link, list(schemas), list(but))


async def is_ready(conn: "Connection", link: str) -> bool:
    """Whether the subscription has copied every table that it knows."""
    return not await fetch_value(conn, _IS_COPYING, link)


async def refresh(conn: "Connection", link: str) -> None:
    """Take tables that were created or dropped since into the subscription; new ones are copied.

    PostgreSQL drops the slot of a copy when that has committed its end. A server that crashed before such a commit was
    on disk would look for the slot for ever, so commits are flushed until everything is copied (`relax`).
    """
    await conn.execute(f"ALTER SUBSCRIPTION {link} SET (synchronous_commit = 'local')")
    await conn.execute(f"ALTER SUBSCRIPTION {link} REFRESH PUBLICATION WITH (copy_data = true)")


async def relax(conn: "Connection", link: str) -> None:
    """Flush applied changes now and then again, instead of at every commit, if all tables are copied."""
    flushes = "SELECT EXISTS (SELECT FROM pg_subscription WHERE subname = $1 AND subsynccommit <> 'off')"
    if await fetch_value(conn, flushes, link) and await is_ready(conn, link):
        await conn.execute(f"ALTER SUBSCRIPTION {link} SET (synchronous_commit = 'off')")


async def unsubscribe(conn: "Connection", link: str) -> None:
    """Drop the subscription, whether or not its publisher answers; there it may leave slots of its copies."""
    if await is_subscribed(conn, link):
        await conn.execute(f"ALTER SUBSCRIPTION {link} DISABLE")
        await conn.execute(f"ALTER SUBSCRIPTION {link} SET (slot_name = NONE)")
        await conn.execute(f"DROP SUBSCRIPTION {link}")


async def end_subscriber(conn: "Connection", link: str) -> None:
    """Nothing is left of the link at its subscriber, whether or not the publisher answers."""
    await unsubscribe(conn, link)
    await drop_marker(conn, link)


async def end_publisher(conn: "Connection", link: str) -> None:
    """Nothing is left of the link at its publisher, but for slots of copies: see `drop_copy_slots`."""
    await unpublish(conn, link)
    await drop_marker(conn, link)


async def drop_copy_slots(publisher: "Connection", subscriber: "Connection") -> None:
    """Drop the slots of copies whose subscription is gone, also when somebody else was killed who had dropped it.

    Slots are looked for first: the subscription of one that is there was created before.
    """
    system = await fetch_value(subscriber, "SELECT system_identifier FROM pg_control_system()")
    slots = await fetch_rows(
        publisher,
        "SELECT slot_name, split_part(slot_name, '_', 2) AS oid FROM pg_replication_slots "
        "WHERE database = current_database() AND slot_name ~ $1",
        f"^pg_[0-9]+_sync_[0-9]+_{system}$",
    )
    live = {
        row["oid"] for row in await fetch_rows(subscriber, "SELECT oid::text AS oid FROM pg_subscription")
    }
    for row in slots:
        if row["oid"] not in live:
            await drop_slots(publisher, f"^{row['slot_name']}$")


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
