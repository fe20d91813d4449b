"""Admin session on PostgreSQL: every step is one transaction, complete or absent after a crash."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.models import STATEMENT_TIMEOUT_S, Member, Setup, first_above
from shardwright.tickets.postgres import READ_SETUP, SCHEMA, connect, sequence

_TABLES = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.setup (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    fleet text NOT NULL, generation int NOT NULL, slots int NOT NULL, slot int NOT NULL, growing_to int
);
CREATE TABLE IF NOT EXISTS {SCHEMA}.members (slot int PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS {SCHEMA}.closed (
    generation int, name text, peak bigint NOT NULL, PRIMARY KEY (generation, name)
);
"""
# How long an admin session waits for draws in flight before it fails and can be repeated.
_SET_LOCK_TIMEOUT = "SET lock_timeout = '10s'"
_LOCK = "SELECT pg_advisory_lock(hashtext('shardwright tickets'))"
# The schema's name is a constant of this package; everything else in these statements is a parameter.
_WRITE_SETUP = f"""
INSERT INTO {SCHEMA}.setup (fleet, generation, slots, slot, growing_to) VALUES ($1, $2, $3, $4, NULL)
ON CONFLICT (is_only) DO UPDATE SET generation = $2, slots = $3, growing_to = NULL
"""  # noqa: S608 - names come from the library, values are parameters
_ADD_MEMBER = f"INSERT INTO {SCHEMA}.members (slot, name) VALUES ($1, $2) ON CONFLICT DO NOTHING"  # noqa: S608 - names come from the library, values are parameters
_HOLDER = f"SELECT name FROM {SCHEMA}.members WHERE slot = $1"  # noqa: S608 - names come from the library, values are parameters
_MEMBERS = f"SELECT slot, name FROM {SCHEMA}.members ORDER BY slot"  # noqa: S608 - names come from the library, values are parameters
_NAMES = f"""
SELECT substring(sequencename FROM '^(.*)_g[0-9]+$') AS name FROM pg_sequences
WHERE schemaname = '{SCHEMA}' AND sequencename ~ ('_g' || $1::int || '$')
UNION SELECT name FROM {SCHEMA}.closed WHERE generation = $1 ORDER BY name
"""  # noqa: S608 - names come from the library, values are parameters
_CLOSE = f"INSERT INTO {SCHEMA}.closed (generation, name, peak) VALUES ($1, $2, $3)"  # noqa: S608 - names come from the library, values are parameters
_CLOSED = f"SELECT name, peak FROM {SCHEMA}.closed WHERE generation = $1"  # noqa: S608 - names come from the library, values are parameters
_MARK_GROWING = f"UPDATE {SCHEMA}.setup SET growing_to = $1"  # noqa: S608 - names come from the library, values are parameters


async def open_admin_session(dsn: str, timeout_s: float) -> "PostgresAdminSession":
    """Return an admin session once no other one holds the server's lock."""
    connection = await connect(dsn, timeout_s, statement_timeout_s=STATEMENT_TIMEOUT_S)
    try:
        await connection.execute(_SET_LOCK_TIMEOUT)
        await connection.execute(_LOCK, timeout=timeout_s)
    except (TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        connection.terminate()
        raise ServerUnavailable(
            f"Another admin session is changing the fleet, or the server does not answer: {error!r}"
        ) from error
    return PostgresAdminSession(connection)


@dataclass
class PostgresAdminSession:
    """The connection that holds the lock for changing this server's place in the fleet."""

    connection: Any  # asyncpg ships without types

    async def find_setup(self) -> Setup | None:
        """Return the server's part in a fleet, if it has one."""
        if await self.connection.fetchval(f"SELECT to_regclass('{SCHEMA}.setup') IS NULL"):
            return None
        row = await self.connection.fetchrow(READ_SETUP)
        return None if row is None else Setup(*row)

    async def find_members(self) -> list[Member]:
        """Return the members recorded on the server: every slot that was ever assigned, and to whom."""
        return [Member(*row) for row in await self.connection.fetch(_MEMBERS)]

    async def install(self, setup: Setup, members: Sequence[Member]) -> None:
        """Add a blank server to a fleet."""
        async with self.connection.transaction():
            await self.connection.execute(_TABLES)
            await self.connection.executemany(_ADD_MEMBER, [(each.slot, each.name) for each in members])
            await self._write(setup)

    async def add_member(self, member: Member) -> None:
        """Record on the server that a slot is assigned."""
        await self.connection.execute(_ADD_MEMBER, member.slot, member.name)
        holder = await self.connection.fetchval(_HOLDER, member.slot)
        if holder != member.name:
            raise SetupInvalid(f"Slot {member.slot} belongs to {holder or 'another server'}.")

    async def find_sequences(self) -> list[str]:
        """Return the sequences of the server's generation, whether open or already closed."""
        rows = await self.connection.fetch(_NAMES, (await self._setup()).generation)
        return [row["name"] for row in rows]

    async def create_sequence(self, name: str, floor: int) -> None:
        """Create a sequence whose tickets are above the floor; an existing one is only ever raised."""
        await self._create(name, floor, await self._setup())

    async def draw_one(self, name: str) -> int:
        """Draw a ticket, which is above every ticket that the server gave before."""
        full_name = sequence(name, (await self._setup()).generation)
        return await self.connection.fetchval("SELECT nextval($1::text::regclass)", full_name)

    async def close_generation(self, growing_to: int) -> None:
        """Fence the generation: drop its sequences and record their last values, in one transaction.

        Renaming them would not be enough: a draw waiting for the lock has already resolved its sequence and would
        continue with it under the new name.
        """
        generation = (await self._setup()).generation
        async with self.connection.transaction():
            await self.connection.execute(_MARK_GROWING, growing_to)
            closed = {row["name"] for row in await self.connection.fetch(_CLOSED, generation)}
            for name in set(await self.find_sequences()) - closed:
                full_name = sequence(name, generation)
                peak = await self._lock_and_read(full_name)
                await self.connection.execute(_CLOSE, generation, name, peak)
                await self.connection.execute(f"DROP SEQUENCE {full_name}")

    async def find_high_water_marks(self) -> Mapping[str, int]:
        """Return each sequence's last value in the newest generation that was closed here."""
        setup = await self._setup()
        generation = setup.generation - 1 if setup.is_open else setup.generation
        return {row["name"]: row["peak"] for row in await self.connection.fetch(_CLOSED, generation)}

    async def open_generation(self, setup: Setup, floors: Mapping[str, int]) -> None:
        """Open the new generation, with sequences above the floors."""
        async with self.connection.transaction():
            for name, floor in floors.items():
                await self._create(name, floor, setup)
            await self._write(setup)

    async def close(self) -> None:
        """Release the lock and close the connection."""
        await self.connection.close()

    async def _setup(self) -> Setup:
        return Setup(*await self.connection.fetchrow(READ_SETUP))

    async def _write(self, setup: Setup) -> None:
        await self.connection.execute(_WRITE_SETUP, setup.fleet, setup.generation, setup.slots, setup.slot)

    async def _create(self, name: str, floor: int, setup: Setup) -> None:
        full_name, first = sequence(name, setup.generation), first_above(floor, setup)
        async with self.connection.transaction():
            await self.connection.execute(
                f"CREATE SEQUENCE IF NOT EXISTS {full_name} AS bigint "
                f"INCREMENT BY {setup.slots} START WITH {first} NO CYCLE CACHE 1"
            )
            # RESTART is undone by a rollback and, unlike setval, blocks nextval until the commit.
            if await self._lock_and_read(full_name) < floor:
                await self.connection.execute(f"ALTER SEQUENCE {full_name} RESTART WITH {first}")

    async def _lock_and_read(self, full_name: str) -> int:
        """Block every draw until the transaction ends, and return the last ticket given.

        A sequence that has given none yet returns the number below its start.
        """
        await self.connection.execute(f"ALTER SEQUENCE {full_name} NO CYCLE")
        return await self.connection.fetchval(
            f"SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM {full_name}"  # noqa: S608 - checked name
        )
