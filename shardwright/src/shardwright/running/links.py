"""A link: one connection to a server, with what the router remembers about it.

asyncpg's pool resets a connection on every return, which costs a round trip. A link is not reset; instead
nothing may leak: every statement of the router names its schemas in full or sets its search path for its own
transaction only, a link never goes back with a transaction open, and one whose raw connection was handed out
is cleaned before its next use.
"""

import asyncio
import random
import time
from typing import TYPE_CHECKING, cast

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.running.options import PoolOptions
from shardwright.topology import Server, fetch_rows, open_connection

if TYPE_CHECKING:
    from asyncpg import Connection
    from asyncpg.prepared_stmt import PreparedStatement

    from shardwright.running.lanes import Lane
    from shardwright.running.queries import Query

# What DISCARD ALL does, except for prepared statements, and allowed in a multi-statement string.
CLEANING = (
    "BEGIN; CLOSE ALL; SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; "
    "SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES; COMMIT; "
)
_PROBE = "SELECT pg_backend_pid() AS pid, (SELECT server_name FROM shardwright.identity) AS name"


class Link:
    """A connection of a lane; `touched` is every shard it has worked on."""

    __slots__ = (
        "busy_since",
        "conn",
        "is_dirty",
        "is_overdue",
        "is_pooled",
        "lane",
        "retire_at",
        "statements",
        "touched",
        "used_at",
    )

    def __init__(self, conn: "Connection", lane: "Lane", *, is_pooled: bool, max_age_s: float) -> None:
        self.conn = conn
        self.lane = lane
        self.is_pooled = is_pooled
        self.is_dirty = False
        self.is_overdue = False
        self.busy_since: float | None = None  # when its statement started, if somebody should watch over it
        self.statements: dict[tuple[Query, str | int], PreparedStatement] = {}
        self.touched: set[int] = set()
        self.used_at = time.monotonic()
        # Connections opened together must not all be replaced together.
        self.retire_at = self.used_at + max_age_s * (0.75 + random.random() / 2)  # noqa: S311

    async def clean(self) -> None:
        """Nothing of an earlier user is left in the session."""
        await self.conn.execute(CLEANING)
        self.is_dirty = False


class Connector:
    """Opens connections to one server, and knows whether a transaction pooler stands in between.

    A pooler shows itself by a process number that is not the backend's. Behind one, names of prepared
    statements would meet those of other clients, so statements stay unnamed there, at the price of parsing
    each time; and start-up settings other than the application's name are refused.
    """

    def __init__(self, server: Server, options: PoolOptions) -> None:
        self.server = server
        self._options = options
        self._is_pooled: bool | None = None

    async def connect(self) -> tuple["Connection", bool]:
        """A connection that answers for this server, and whether it is pooled."""
        try:
            if self._is_pooled is None:
                conn = await self._open(is_pooled=True)
                self._is_pooled = await self._probe(conn)
                await conn.close()
            conn = await self._open(is_pooled=self._is_pooled)
            if await self._probe(conn) != self._is_pooled:
                self._is_pooled = None
                conn.terminate()
                raise ServerUnavailable(
                    f"server {self.server.name} changed its kind of connection: try again"
                )
            if self._options.setup is not None:
                await self._options.setup(conn)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise ServerUnavailable(f"server {self.server.name} does not answer: {error!r}") from error
        return conn, self._is_pooled

    async def _open(self, *, is_pooled: bool) -> "Connection":
        options = self._options
        settings = {"application_name": options.application_name}
        if not is_pooled:
            settings |= session_settings(options)
            # A statement is prepared for one shard on one connection, and seldom runs the five times after which
            # PostgreSQL would think of a plan that lasts: with thousands of shards it would plan every time.
            settings["plan_cache_mode"] = "force_generic_plan"
        return await open_connection(
            self.server.dsn,
            f"server {self.server.name}",
            timeout_s=options.connect_timeout_s,
            # Without a pooler the server keeps the time, and the pool watches the server: a timer for every
            # statement would cost 10 µs each.
            command_timeout_s=options.statement_timeout_s if is_pooled else None,
            statement_cache_size=0 if is_pooled else 100,
            server_settings=settings,
        )

    async def _probe(self, conn: "Connection") -> bool:
        try:
            async with asyncio.timeout(self._options.connect_timeout_s):
                row = (await fetch_rows(conn, _PROBE))[0]
        except BaseException:
            conn.terminate()
            raise
        if row["name"] != self.server.name:
            conn.terminate()
            raise SetupInvalid(f"the address of server {self.server.name} leads to server {row['name']}")
        return row["pid"] != cast("int", conn.get_server_pid())


def local_settings(options: PoolOptions) -> str:
    """The same limits for one transaction, where a pooler owns the session."""
    return "".join(f" SET LOCAL {name} = {value};" for name, value in session_settings(options).items())


def session_settings(options: PoolOptions) -> dict[str, str]:
    """Limits the server itself enforces, should this process be gone or stuck."""
    return {
        "statement_timeout": _milliseconds(options.statement_timeout_s),
        "idle_in_transaction_session_timeout": _milliseconds(options.idle_in_transaction_s),
    }


def _milliseconds(seconds: float) -> str:
    return str(int(seconds * 1000))
