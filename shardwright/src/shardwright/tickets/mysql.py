"""Tickets from MySQL or MariaDB: one table with one row per sequence, `REPLACE INTO` and `LAST_INSERT_ID()`.

The row's key is the stub, not the ticket: with the ticket as primary key InnoDB leaves a deleted row behind
for each draw, and finding the live one among them made a batch of 1,000 take 2.8 s instead of 0.01. The
ticket has a unique key so that each draw is an insert, whose counter both servers write to their log (MariaDB
since 10.2.4, MySQL since 8.0). MyISAM is twice as fast and forgets its last tickets when the machine stops.

Step and offset are set by the client for its own connection, so the server needs no configuration, and are
checked on each ticket.
"""

import asyncio
import re
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qs, unquote, urlsplit

import asyncmy
from asyncmy import errors as driver

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.backends import AdminSession
from shardwright.tickets.errors import Fenced
from shardwright.tickets.models import Setup
from shardwright.tickets.timeouts import run_within

READ_SETUP = "SELECT fleet, generation, slots, slot, growing_to FROM shardwright_setup"
NO_SUCH_TABLE = 1146
_ACCESS_DENIED = (1044, 1045, 1049, 1142, 1227)
# A deadlock or a lock timeout: the draw did not happen, so it can be repeated.
_TRY_AGAIN = (1205, 1213)
_TRIES = 5
_DEFAULT_PORT = 3306
_OLDEST_MARIADB, _OLDEST_MYSQL = (10, 2, 4), (8, 0, 0)
_CHECK = "SELECT @@version, @@innodb_flush_log_at_trx_commit, @@read_only"
_STEPS = "SELECT @@session.auto_increment_increment, @@session.auto_increment_offset"


def table(name: str, generation: int) -> str:
    """Return the name of a sequence's table in a generation."""
    return f"ticket_{name}_g{generation}"


class MysqlConnection:
    """A thin wrapper of the driver that translates its errors."""

    def __init__(self, raw: Any) -> None:  # asyncmy's generated stubs leave most results untyped
        self._raw = raw

    async def run(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows; the columns' types are the caller's to know."""
        try:
            async with self._raw.cursor() as cursor:
                await cursor.execute(sql, parameters or None)
                return list(await cursor.fetchall()) if cursor.description else []
        except driver.MySQLError as error:
            translate(error)
        except (OSError, AttributeError) as error:  # asyncmy has None in place of a connection it just closed
            raise ServerUnavailable(f"The connection to MySQL broke: {error!r}") from error

    @property
    def last_insert_id(self) -> int:
        """The value of LAST_INSERT_ID(), which the server sends with the result: no extra round trip."""
        return int(self._raw.insert_id())

    def abandon(self) -> None:
        """Drop the connection immediately."""
        self._raw.close()

    async def close(self) -> None:
        """Close the connection gracefully."""
        await self._raw.ensure_closed()


def translate(error: driver.MySQLError) -> NoReturn:
    """Raise the library's error for an error of the server."""
    code = error.args[0] if error.args else 0
    if code == NO_SUCH_TABLE:
        raise Fenced(str(error)) from error
    if code in _ACCESS_DENIED:
        raise SetupInvalid(f"MySQL refuses: {error}") from error
    raise ServerUnavailable(f"MySQL failed: {error}") from error


@dataclass(eq=False)
class MysqlSession:
    """A connection that draws tickets by replacing a row."""

    connection: MysqlConnection
    setup: Setup

    async def draw(self, name: str, count: int) -> list[int]:
        """Return new tickets; raises `Fenced` when the table does not exist (any more)."""
        for attempt in range(1, _TRIES + 1):
            try:
                return await draw(self.connection, name, count, self.setup)
            except ServerUnavailable as error:
                if attempt == _TRIES or not _may_repeat(error):
                    raise
        raise AssertionError  # unreachable: the last attempt returns or raises

    def abandon(self) -> None:
        """Drop the connection immediately."""
        self.connection.abandon()

    async def close(self) -> None:
        """Close the connection gracefully."""
        await self.connection.close()


async def draw(connection: MysqlConnection, name: str, count: int, setup: Setup) -> list[int]:
    """Draw tickets with one statement.

    The server reserves a statement's numbers together, in steps; the remaining row shows whether it did.
    """
    replace = f"REPLACE INTO {table(name, setup.generation)} (stub) VALUES {', '.join(['(1)'] * count)}"  # noqa: S608 - names come from the library, values are parameters
    if count == 1:
        await connection.run(replace)
        return [connection.last_insert_id]
    await connection.run("BEGIN")
    try:
        await connection.run(replace)
        first = connection.last_insert_id
        ((last,),) = await connection.run(f"SELECT id FROM {table(name, setup.generation)}")  # noqa: S608 - names come from the library, values are parameters
    except (Fenced, ServerUnavailable) as error:
        if isinstance(error, Fenced) or _may_repeat(error):
            await connection.run("ROLLBACK")
        raise
    await connection.run("COMMIT")
    tickets = list(range(first, first + count * setup.slots, setup.slots))
    if tickets[-1] != last:
        raise ServerUnavailable(
            f"MySQL did not reserve {count} tickets of {name} together: they are discarded."
        )
    return tickets


def _may_repeat(error: Exception) -> bool:
    cause = error.__cause__
    return isinstance(cause, driver.MySQLError) and bool(cause.args) and cause.args[0] in _TRY_AGAIN


class MysqlBackend:
    """A MySQL or MariaDB database that serves tickets."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    async def open_session(self, timeout_s: float, *, require_durability: bool) -> MysqlSession:
        """Connect, check the durability settings, read the set-up, set step and offset."""
        connection = await connect(self._dsn, timeout_s)
        reading = _prepare(connection, require_durability=require_durability)
        try:
            setup = await run_within(timeout_s, reading, connection.abandon)
        except TimeoutError as error:
            raise ServerUnavailable(f"MySQL did not return its set-up: {error}") from error
        except BaseException:
            connection.abandon()
            raise
        return MysqlSession(connection, setup)

    async def open_admin_session(self, timeout_s: float) -> AdminSession:
        """Connect for changing the fleet, waiting for other admin sessions to finish."""
        from shardwright.tickets.mysql_admin import open_admin_session  # noqa: PLC0415 - it builds on this file

        return await open_admin_session(self._dsn, timeout_s)


async def connect(dsn: str, timeout_s: float, *, statement_timeout_s: float | None = None) -> MysqlConnection:
    """Return an autocommit connection, with a read timeout if given."""
    parts = urlsplit(dsn)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    try:
        async with asyncio.timeout(timeout_s):
            return MysqlConnection(
                await asyncmy.connect(
                    host=parts.hostname or "localhost",
                    port=parts.port or _DEFAULT_PORT,
                    user=unquote(parts.username or ""),
                    password=unquote(parts.password or ""),
                    database=parts.path.removeprefix("/"),
                    unix_socket=query.get("unix_socket"),
                    ssl=query.get("ssl", "").lower() in ("1", "true") or None,
                    autocommit=True,
                    read_timeout=statement_timeout_s,
                )
            )
    except (driver.MySQLError, OSError, TimeoutError) as error:
        if isinstance(error, driver.MySQLError) and error.args and error.args[0] in _ACCESS_DENIED:
            raise SetupInvalid(f"MySQL refuses: {error}") from error
        raise ServerUnavailable(f"MySQL is not reachable: {error!r}") from error


async def read_setup(connection: MysqlConnection) -> Setup:
    """Return the server's set-up."""
    try:
        rows = await connection.run(READ_SETUP)
    except Fenced as error:
        raise SetupInvalid("That database serves no tickets yet: initialize the fleet first.") from error
    if not rows:
        raise SetupInvalid("That database serves no tickets yet: initialize the fleet first.")
    return Setup(*rows[0])


async def set_steps(connection: MysqlConnection, setup: Setup) -> None:
    """Make this connection count in the server's slot, unless the server is already configured so."""
    wanted = (setup.slots, setup.slot)
    if (await connection.run(_STEPS))[0] == wanted:
        return
    try:
        await connection.run(
            f"SET SESSION auto_increment_increment = {setup.slots}, auto_increment_offset = {setup.slot}"
        )
    except SetupInvalid as error:
        raise SetupInvalid(
            "This account may not set auto_increment_increment: GRANT SESSION_VARIABLES_ADMIN to it, or set "
            f"auto_increment_increment={setup.slots} and auto_increment_offset={setup.slot} on the server."
        ) from error
    if (await connection.run(_STEPS))[0] != wanted:
        raise SetupInvalid(f"MySQL did not accept steps of {setup.slots} from {setup.slot}.")


async def _prepare(connection: MysqlConnection, *, require_durability: bool) -> Setup:
    await _check(connection, require_durability=require_durability)
    setup = await read_setup(connection)
    await set_steps(connection, setup)
    return setup


async def _check(connection: MysqlConnection, *, require_durability: bool) -> None:
    ((version, flush, is_read_only),) = await connection.run(_CHECK)
    number = tuple(int(each) for each in re.findall(r"\d+", version)[:3])
    if number < (_OLDEST_MARIADB if "mariadb" in version.lower() else _OLDEST_MYSQL):
        raise SetupInvalid(
            f"MySQL {version} loses its counters at a restart: use MySQL 8.0 or MariaDB 10.2.4, or later."
        )
    if is_read_only:
        raise ServerUnavailable("That MySQL is read-only, as a replica is: it cannot give tickets.")
    if require_durability and flush != 1:
        raise SetupInvalid(
            f"innodb_flush_log_at_trx_commit is {flush}: set it to 1, or a crash lets MySQL repeat tickets."
        )
