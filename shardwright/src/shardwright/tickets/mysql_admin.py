"""Admin session on MySQL: DDL commits implicitly there, so every step is safe to repeat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.errors import Fenced
from shardwright.tickets.models import STATEMENT_TIMEOUT_S, Member, Setup, first_above
from shardwright.tickets.mysql import MysqlConnection, connect, draw, read_setup, set_steps, table

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS shardwright_setup (
        is_only tinyint PRIMARY KEY, fleet varchar(64) NOT NULL,
        generation int NOT NULL, slots int NOT NULL, slot int NOT NULL, growing_to int
    ) ENGINE=InnoDB
    """,
    """
    CREATE TABLE IF NOT EXISTS shardwright_members (
        slot int PRIMARY KEY, name varchar(64) NOT NULL UNIQUE
    ) ENGINE=InnoDB
    """,
)
# Locks are the whole server's, and two fleets may live in two of its databases.
_LOCK = "SELECT GET_LOCK(CONCAT('shardwright ', MD5(DATABASE())), %s)"
# Metadata locks: how long an admin session waits for draws in flight before it fails and can be repeated.
_SET_LOCK_TIMEOUT = "SET SESSION lock_wait_timeout = 10"
_WRITE_SETUP = (
    "REPLACE INTO shardwright_setup (is_only, fleet, generation, slots, slot, growing_to) "
    "VALUES (1, %s, %s, %s, %s, NULL)"
)
_ADD_MEMBER = "INSERT IGNORE INTO shardwright_members (slot, name) VALUES (%s, %s)"
_HOLDER = "SELECT name FROM shardwright_members WHERE slot = %s"
_MEMBERS = "SELECT slot, name FROM shardwright_members ORDER BY slot"
_TABLE_NAMES = "SELECT table_name FROM information_schema.tables WHERE table_schema = database()"
# Names in these statements passed check_name or come from the catalog; values are numbers.
_CREATE = (
    "CREATE TABLE {} (stub tinyint NOT NULL PRIMARY KEY, id bigint NOT NULL AUTO_INCREMENT, "
    "UNIQUE KEY (id)) ENGINE=InnoDB"
)


async def open_admin_session(dsn: str, timeout_s: float) -> "MysqlAdminSession":
    """Return an admin session once no other one holds the server's lock."""
    connection = await connect(dsn, timeout_s, statement_timeout_s=STATEMENT_TIMEOUT_S)
    try:
        await connection.run(_SET_LOCK_TIMEOUT)
        ((has_lock,),) = await connection.run(_LOCK, timeout_s)
    except BaseException:
        connection.abandon()
        raise
    if has_lock != 1:
        connection.abandon()
        raise ServerUnavailable("Another admin session is changing the fleet: try again later.")
    return MysqlAdminSession(connection)


@dataclass
class MysqlAdminSession:
    """The connection that holds the lock for changing this server's place in the fleet."""

    connection: MysqlConnection

    async def find_setup(self) -> Setup | None:
        """Return the server's part in a fleet, if it has one."""
        if "shardwright_setup" not in await self._table_names():
            return None
        rows = await self.connection.run("SELECT 1 FROM shardwright_setup")
        return await read_setup(self.connection) if rows else None

    async def find_members(self) -> list[Member]:
        """Return the members recorded on the server: every slot that was ever assigned, and to whom."""
        return [Member(*row) for row in await self.connection.run(_MEMBERS)]

    async def install(self, setup: Setup, members: Sequence[Member]) -> None:
        """Add a blank server to a fleet; its set-up is written last."""
        for statement in _TABLES:
            await self.connection.run(statement)
        for member in members:
            await self.add_member(member)
        await self._write(setup)

    async def add_member(self, member: Member) -> None:
        """Record on the server that a slot is assigned."""
        await self.connection.run(_ADD_MEMBER, member.slot, member.name)
        rows = await self.connection.run(_HOLDER, member.slot)
        if rows != [(member.name,)]:
            raise SetupInvalid(f"Slot {member.slot} belongs to {rows[0][0] if rows else 'another server'}.")

    async def find_sequences(self) -> list[str]:
        """Return the sequences of the server's generation, whether open or already closed."""
        generation = (await read_setup(self.connection)).generation
        return sorted({*await self._names("ticket", generation), *await self._names("closed", generation)})

    async def create_sequence(self, name: str, floor: int) -> None:
        """Create a sequence whose tickets are above the floor; an existing one is only ever raised."""
        await self._create(name, floor, await read_setup(self.connection))

    async def draw_one(self, name: str) -> int:
        """Draw a ticket, which is above every ticket that the server gave before."""
        setup = await read_setup(self.connection)
        await set_steps(self.connection, setup)
        return (await draw(self.connection, name, 1, setup))[0]

    async def close_generation(self, growing_to: int) -> None:
        """Fence the generation by renaming its tables; a waiting draw then finds its table gone."""
        await self.connection.run("UPDATE shardwright_setup SET growing_to = %s", growing_to)
        generation = (await read_setup(self.connection)).generation
        for name in await self._names("ticket", generation):
            await self.connection.run(
                f"RENAME TABLE {table(name, generation)} TO closed_{name}_g{generation}"
            )

    async def find_high_water_marks(self) -> Mapping[str, int]:
        """Return a number above each closed sequence's tickets, by drawing one more from it.

        The row may hold less than the last ticket given: the later of two draws can be written first.
        """
        setup = await read_setup(self.connection)
        generation = setup.generation - 1 if setup.is_open else setup.generation
        peaks: dict[str, int] = {}
        for name in await self._names("closed", generation):
            await self.connection.run(f"REPLACE INTO closed_{name}_g{generation} (stub) VALUES (1)")  # noqa: S608 - names come from the library, values are parameters
            peaks[name] = self.connection.last_insert_id
        return peaks

    async def open_generation(self, setup: Setup, floors: Mapping[str, int]) -> None:
        """Open the new generation; clients see it in the set-up, which is written last."""
        for name, floor in floors.items():
            await self._create(name, floor, setup)
        await self._write(setup)

    async def close(self) -> None:
        """Release the lock and close the connection."""
        await self.connection.close()

    async def _table_names(self) -> set[str]:
        return {row[0] for row in await self.connection.run(_TABLE_NAMES)}

    async def _names(self, state: str, generation: int) -> list[str]:
        prefix, suffix = f"{state}_", f"_g{generation}"
        found = [
            each for each in await self._table_names() if each.startswith(prefix) and each.endswith(suffix)
        ]
        return sorted(each.removeprefix(prefix).removesuffix(suffix) for each in found)

    async def _write(self, setup: Setup) -> None:
        await self.connection.run(_WRITE_SETUP, setup.fleet, setup.generation, setup.slots, setup.slot)

    async def _create(self, name: str, floor: int, setup: Setup) -> None:
        final = table(name, setup.generation)
        try:
            await self._raise(final, floor, setup)
        except Fenced:
            # Created and raised under another name: nobody can draw from it before it is above the floor.
            fresh = f"new_{name}_g{setup.generation}"
            if fresh in await self._table_names():
                await self.connection.run(f"DROP TABLE {fresh}")  # left by an interrupted attempt
            await self.connection.run(_CREATE.format(fresh))
            await self._raise(fresh, floor, setup)
            await self.connection.run(f"RENAME TABLE {fresh} TO {final}")

    async def _raise(self, full_name: str, floor: int, setup: Setup) -> None:
        """Move the counter past the floor; InnoDB never moves it back, whoever draws meanwhile."""
        rows = await self.connection.run(f"SELECT id FROM {full_name}")  # noqa: S608 - a checked name
        if first_above(floor, setup) > setup.slot and (not rows or rows[0][0] < floor):
            await self.connection.run(f"REPLACE INTO {full_name} (stub, id) VALUES (1, {floor})")  # noqa: S608 - names come from the library, values are parameters
