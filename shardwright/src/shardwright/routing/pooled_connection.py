"""Pooled connections: a connection to a server with its prepared statements, and how one is opened.

asyncpg's pool resets a connection on every release, which costs a round trip. These are not reset; instead no
session state may leak: every statement of the router qualifies its schemas or sets the search path for its own
transaction only, no connection is released with a transaction open, and one whose raw connection was exposed is
reset before its next use.
"""

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any, Protocol, cast

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.routing.hot_statements import HotStatements
from shardwright.routing.options import PoolOptions
from shardwright.routing.shard_connection import ShardConnection
from shardwright.topology import (
    PRIMARY,
    TIMELINE_COLUMNS,
    PrimaryAddress,
    Server,
    fetch_rows,
    open_connection,
)

if TYPE_CHECKING:
    from asyncpg import Record

    from shardwright.routing.connection_groups import ConnectionGroup
    from shardwright.routing.queries import Query

# What DISCARD ALL does, except for prepared statements, and allowed in a multi-statement string.
RESET_SESSION_SQL = (
    "BEGIN; CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; "
    "SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES; COMMIT; "
)
_PROBE = "SELECT pg_backend_pid() AS pid, (SELECT server_name FROM shardwright.identity) AS name, "


class Statement(Protocol):
    """A prepared statement, asyncpg's or one that needs no dispatch function."""

    async def fetch(self, *args: Any, timeout: float | None = None) -> "list[Record]":  # noqa: ASYNC109 - asyncpg's own
        """All rows."""
        ...

    async def fetchrow(self, *args: Any, timeout: float | None = None) -> "Record | None":  # noqa: ASYNC109 - likewise
        """The first row, if there is one."""
        ...


class PooledConnection:
    """A connection of a group; `shards_touched` holds every shard whose tables it has used."""

    __slots__ = (
        "busy_since",
        "check_at",
        "conn",
        "group",
        "hot",
        "is_behind_pooler",
        "is_dirty",
        "is_overdue",
        "retire_at",
        "shards_touched",
        "statements",
        "used_at",
    )

    def __init__(
        self, conn: ShardConnection, group: "ConnectionGroup", options: PoolOptions, *, is_behind_pooler: bool
    ) -> None:
        self.conn = conn
        self.group = group
        self.check_at = 0.0  # set by the pool: when its next release retires it or measures its backend
        self.is_behind_pooler = is_behind_pooler
        self.is_dirty = False
        self.is_overdue = False
        self.busy_since: float | None = None  # when its statement started, for `terminate_overdue`
        self.statements: dict[tuple[Query, str], Statement] = {}
        self.hot = HotStatements(0 if is_behind_pooler else options.hot_bytes)
        self.shards_touched: set[int] = set()
        self.used_at = time.monotonic()
        # Connections opened together must not all be replaced together.
        self.retire_at = self.used_at + options.max_age_s * (0.75 + random.random() / 2)  # noqa: S311 - jitter, not a secret

    def with_reset(self, command: str) -> str:
        """The command that ends a transaction, with what must follow it in the same message.

        Behind a pooler the session is another client's as soon as the transaction has ended, so one whose raw
        connection was exposed is reset at once; elsewhere it is reset before its next use.
        """
        return f"{command}; {RESET_SESSION_SQL}" if self.is_dirty and self.is_behind_pooler else command

    async def commit(self, timeout_s: float) -> str:
        """COMMIT; returns `ROLLBACK` when the transaction had failed before."""
        script = self.with_reset("COMMIT")
        if script == "COMMIT":
            return await self.conn.execute(script, timeout=timeout_s)
        try:
            # The status of a script is its last statement's, so whether the transaction has failed is asked first.
            await self.conn.execute("SELECT 1", timeout=timeout_s)
        except asyncpg.InFailedSQLTransactionError:
            await self.conn.execute(self.with_reset("ROLLBACK"), timeout=timeout_s)
            return "ROLLBACK"
        await self.conn.execute(script, timeout=timeout_s)
        return "COMMIT"

    async def reset(self) -> None:
        """Remove all session state of earlier users."""
        await self.conn.execute(RESET_SESSION_SQL)
        self.is_dirty = False


class Connector:
    """Opens connections to one server, and detects a transaction pooler in between.

    A pooler is detected by a process id that is not the backend's. Behind one, names of prepared statements would
    collide with those of other clients, so statements stay unnamed there and are parsed each time; and start-up
    settings other than the application name are refused.
    """

    _columns = TIMELINE_COLUMNS  # that are asked for on every new connection
    _target = PRIMARY

    def __init__(self, server: Server, options: PoolOptions, primary: PrimaryAddress) -> None:
        self.server = server
        self._options = options
        self.primary = primary
        self._is_behind_pooler: bool | None = None

    async def connect(self) -> tuple[ShardConnection, bool]:
        """Open a connection, check that it leads to this server, and return whether it is behind a pooler."""
        try:
            limit_s = await self.primary.find_to_connect(self._options.connect_timeout_s)
            if self._is_behind_pooler is None:
                conn = await self._open(limit_s, is_behind_pooler=True)
                self._is_behind_pooler = await self._probe(conn, limit_s)
                await conn.close()
            conn = await self._open(limit_s, is_behind_pooler=self._is_behind_pooler)
            if await self._probe(conn, limit_s) != self._is_behind_pooler:
                self._is_behind_pooler = None
                conn.terminate()
                raise ServerUnavailable(  # noqa: TRY301 - like the others, it puts the address in doubt
                    f"server {self.server.name} was put behind a pooler, or no longer is: try again"
                )
            if self._options.setup is not None:
                await self._options.setup(conn)
        except ServerUnavailable:
            self.primary.doubt()
            raise
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            self.primary.doubt()
            raise ServerUnavailable(f"server {self.server.name} does not answer: {error!r}") from error
        return conn, self._is_behind_pooler

    async def _open(self, limit_s: float, *, is_behind_pooler: bool) -> ShardConnection:
        options = self._options
        settings = {"application_name": options.application_name}
        if not is_behind_pooler:
            settings |= session_settings(options)
            # A statement is prepared for one shard on one connection, and seldom runs the five times after which
            # PostgreSQL considers a generic plan: with thousands of shards it would plan every time.
            settings["plan_cache_mode"] = "force_generic_plan"
        opened = await open_connection(
            self.primary.dsn,
            f"server {self.server.name}",
            timeout_s=limit_s,
            # Without a pooler the server enforces statement_timeout, and the pool checks for overdue connections:
            # a timer for every statement would cost 10 µs each.
            command_timeout_s=options.statement_timeout_s if is_behind_pooler else None,
            statement_cache_size=0 if is_behind_pooler else 100,
            server_settings=settings,
            connection_class=ShardConnection,
            target=self._target,
        )
        return cast("ShardConnection", opened)

    async def _probe(self, conn: ShardConnection, limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                sent_at = time.monotonic()
                row = (await fetch_rows(conn, _PROBE + self._columns))[0]
        except BaseException:
            conn.terminate()
            raise
        if row["name"] != self.server.name:
            conn.terminate()
            raise SetupInvalid(f"the address of server {self.server.name} leads to server {row['name']}")
        self._accept(conn, row, sent_at)
        return row["pid"] != cast("int", conn.get_server_pid())

    def _accept(self, conn: ShardConnection, row: "Record", sent_at: float) -> None:  # noqa: ARG002 - for replicas
        """Refuse the connection when it leads to a former primary."""
        conn.timeline = row["timeline"] or 0
        try:
            self.primary.accept(row["cluster"], conn.timeline)
        except ServerUnavailable:
            conn.terminate()
            raise


def local_settings(options: PoolOptions) -> str:
    """SET LOCAL statements with the same limits for one transaction, for use behind a pooler."""
    return "".join(f" SET LOCAL {name} = {value};" for name, value in session_settings(options).items())


def session_settings(options: PoolOptions) -> dict[str, str]:
    """Timeouts that the server itself enforces, in case this process hangs or is gone."""
    return {
        "statement_timeout": milliseconds(min(options.statement_timeout_s, options.deadline_s)),
        "idle_in_transaction_session_timeout": milliseconds(options.idle_in_transaction_s),
    }


def milliseconds(seconds: float) -> str:
    """A time limit for a setting of PostgreSQL, where 0 means none."""
    return str(max(1, int(seconds * 1000)) if seconds else 0)
