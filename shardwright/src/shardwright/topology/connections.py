"""Opens single connections and queries them, with types.

asyncpg ships without complete types; its results get their types here and nowhere else.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import asyncpg

from shardwright.errors import ServerUnavailable

if TYPE_CHECKING:
    from asyncpg import Connection, Record

CONNECT_TIMEOUT_S = 10.0

# Errors of a server that is down, starting, or out of connections.
UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    asyncpg.TargetServerAttributeNotMatched,  # only standbys answer at this address
)
PRIMARY = "primary"
"""Which host of a multi-host address to connect to. A standby lags: it may still show deleted rows."""
ANY_HOST = "any"
"""The first that answers, whether it is a primary or a standby."""


async def open_connection(
    dsn: str,
    name: str,
    *,
    timeout_s: float = CONNECT_TIMEOUT_S,
    command_timeout_s: float | None = None,
    statement_cache_size: int = 0,
    server_settings: Mapping[str, str] | None = None,
    connection_class: type[asyncpg.Connection] = asyncpg.Connection,
    target: str = PRIMARY,
) -> "Connection":
    """Open a connection to a primary; `ServerUnavailable` names the server (`name`) when it does not answer.

    An address may name several hosts, a server and its standbys: the current primary is used, or whatever else
    `target` says. No statement cache by
    default: there may be a transaction pooler in between.
    """
    connect = cast("Any", asyncpg.connect)
    try:
        opened = await connect(
            dsn,
            timeout=timeout_s,
            command_timeout=command_timeout_s,
            statement_cache_size=statement_cache_size,
            server_settings=server_settings,
            target_session_attrs=target,
            connection_class=connection_class,
        )
    except UNREACHABLE as error:
        raise ServerUnavailable(f"{name} does not answer: {error!r}") from error
    return cast("Connection", opened)


async def fetch_rows(conn: "Connection", sql: str, *args: Any) -> "list[Record]":
    """All rows."""
    return cast("list[Record]", await conn.fetch(sql, *args))


async def fetch_value(conn: "Connection", sql: str, *args: Any) -> Any:
    """The first column of the first row."""
    return cast("Any", await conn.fetchval(sql, *args))
