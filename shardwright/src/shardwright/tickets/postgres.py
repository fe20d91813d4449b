"""Tickets from PostgreSQL: a sequence for each name, stepping by the number of slots.

`nextval` alone is not enough. It writes WAL for 32 numbers ahead, and a session that draws from that reserve commits
without waiting for the WAL: if the record has not reached the disk when the server crashes, the same numbers come
again (a test shows it). So each draw also writes a tiny WAL message, which makes its commit wait for all WAL before it.
"""

from dataclasses import dataclass
from typing import Any

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.backends import AdminSession
from shardwright.tickets.errors import Fenced
from shardwright.tickets.models import Setup
from shardwright.tickets.timeouts import run_within

SCHEMA = "shardwright_tickets"
READ_SETUP = f"SELECT fleet, generation, slots, slot, growing_to FROM {SCHEMA}.setup"  # noqa: S608 - a constant
# The name is resolved at each draw, so that a cached plan never uses a sequence that was recreated.
# Plain columns: for an array, asyncpg would query its type first, on each new connection.
_DRAW = """
WITH waiting AS MATERIALIZED (SELECT pg_logical_emit_message(true, 'shardwright.tickets', '') IS NOT NULL)
SELECT nextval($1::text::regclass) FROM waiting, generate_series(1, $2::int)
"""
# The last two are what asyncpg raises when the connection broke, or was dropped, between its steps.
_LOST = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    OSError,
    asyncpg.InternalClientError,
    AttributeError,
)
_CHECK = "SELECT current_setting('fsync'), pg_is_in_recovery()"


def sequence(name: str, generation: int) -> str:
    """Return the sequence's qualified name in a generation."""
    return f"{SCHEMA}.{name}_g{generation}"


@dataclass(eq=False)
class PostgresSession:
    """A connection that draws tickets from sequences."""

    connection: Any  # asyncpg ships without types
    setup: Setup

    async def draw(self, name: str, count: int) -> list[int]:
        """Return new tickets; raises `Fenced` when the sequence does not exist (any more)."""
        try:
            rows = await self.connection.fetch(_DRAW, sequence(name, self.setup.generation), count)
            return [row[0] for row in rows]
        except asyncpg.UndefinedTableError as error:
            raise Fenced(f"{name} does not exist in generation {self.setup.generation}") from error
        except asyncpg.InternalServerError as error:
            # Waited for the sequence's lock while it was dropped: "could not open relation with OID …".
            raise Fenced(f"{name} was dropped during the draw") from error
        except _LOST as error:
            raise ServerUnavailable(f"PostgreSQL gave no ticket: {error}") from error

    def abandon(self) -> None:
        """Drop the connection immediately."""
        self.connection.terminate()

    async def close(self) -> None:
        """Close the connection gracefully."""
        await self.connection.close()


class PostgresBackend:
    """A PostgreSQL database that serves tickets."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    async def open_session(self, timeout_s: float, *, require_durability: bool) -> PostgresSession:
        """Connect, check the durability settings, and read the set-up."""
        connection = await connect(self._dsn, timeout_s)
        reading = _read_checked(connection, require_durability=require_durability)
        try:
            setup = await run_within(timeout_s, reading, connection.terminate)
        except (TimeoutError, *_LOST) as error:
            connection.terminate()
            raise ServerUnavailable(f"PostgreSQL did not return its set-up: {error}") from error
        except BaseException:
            connection.terminate()
            raise
        return PostgresSession(connection, setup)

    async def open_admin_session(self, timeout_s: float) -> AdminSession:
        """Connect for changing the fleet, waiting for other admin sessions to finish."""
        from shardwright.tickets.postgres_admin import open_admin_session  # noqa: PLC0415 - it builds on this file

        return await open_admin_session(self._dsn, timeout_s)


async def connect(
    dsn: str, timeout_s: float, *, statement_timeout_s: float | None = None
) -> Any:  # asyncpg has no types
    """Return a connection with synchronous_commit on, whatever the server's default is."""
    driver: Any = asyncpg
    try:
        return await driver.connect(
            dsn,
            timeout=timeout_s,
            command_timeout=statement_timeout_s,
            server_settings={"synchronous_commit": "on", "application_name": "shardwright tickets"},
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise ServerUnavailable(f"PostgreSQL is not reachable: {error!r}") from error


async def _read_checked(connection: Any, *, require_durability: bool) -> Setup:
    try:
        fsync, is_standby = await connection.fetchrow(_CHECK)
        row = await connection.fetchrow(READ_SETUP)
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
        raise SetupInvalid("That database serves no tickets yet: initialize the fleet first.") from error
    except asyncpg.PostgresError as error:
        raise ServerUnavailable(f"PostgreSQL did not return its set-up: {error}") from error
    if row is None:
        raise SetupInvalid("That database serves no tickets yet: initialize the fleet first.")
    if is_standby:
        raise ServerUnavailable("That PostgreSQL is a standby: it cannot give tickets.")
    if require_durability and fsync != "on":
        raise SetupInvalid("That PostgreSQL runs with fsync off: after a power cut it would repeat tickets.")
    return Setup(*row)
