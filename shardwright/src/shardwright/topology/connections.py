"""Opens single connections and queries them, with types.

asyncpg ships without complete types; its results get their types here and nowhere else.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology.host_list import split_hosts

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
OTHER_HOSTS_S = 1.0
"""How long the hosts of an address that say nothing are waited for, once one of them has answered."""
_TIMELINE = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"


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

    An address may name several hosts, a server and its standbys: all of them are tried at once, and the current
    primary is used, or whatever else `target` says. No statement cache by default: there may be a transaction pooler in
    between.
    """
    options: dict[str, Any] = {
        "timeout": timeout_s,
        "command_timeout": command_timeout_s,
        "statement_cache_size": statement_cache_size,
        "server_settings": server_settings,
        "target_session_attrs": target,
        "connection_class": connection_class,
    }
    try:
        return await _open_one_of(split_hosts(dsn), options)
    except UNREACHABLE as error:
        raise ServerUnavailable(f"{name} does not answer: {error!r}") from error


async def _open_one_of(dsns: tuple[str, ...], options: dict[str, Any]) -> "Connection":
    """A connection to one of these hosts: of several primaries, to that of the last timeline."""
    connect = cast("Any", asyncpg.connect)
    if len(dsns) == 1:
        return await connect(dsns[0], **options)
    waiting = {asyncio.create_task(connect(dsn, **options)) for dsn in dsns}
    opened: list[Connection] = []
    errors: list[BaseException] = []
    loop = asyncio.get_running_loop()
    ends_at, limit_s = loop.time() + OTHER_HOSTS_S, None
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            errors += [error for task in done if (error := task.exception()) is not None]
            opened += [task.result() for task in done if task.exception() is None]
            limit_s = max(0.0, ends_at - loop.time()) if opened else None
            if not done or (opened and options["target_session_attrs"] != PRIMARY):
                break
    finally:
        await _give_up(waiting)
    if not opened:
        raise errors[-1]
    return await _choose_newest(opened)


async def _give_up(waiting: "Iterable[asyncio.Task[Connection]]") -> None:
    for task in waiting:
        task.cancel()
    for found in await asyncio.gather(*waiting, return_exceptions=True):
        if not isinstance(found, BaseException):  # it was open before it could be cancelled
            found.terminate()


async def _choose_newest(opened: "list[Connection]") -> "Connection":
    """A former primary may be back, and believe that it is the primary."""
    if len(opened) == 1:
        return opened[0]
    chosen: Connection | None = None
    try:
        timelines = [await fetch_value(conn, _TIMELINE) for conn in opened]
        chosen = opened[timelines.index(max(timelines))]
        return chosen
    finally:
        for conn in opened:
            if conn is not chosen:
                conn.terminate()


async def fetch_rows(conn: "Connection", sql: str, *args: Any) -> "list[Record]":
    """All rows."""
    return cast("list[Record]", await conn.fetch(sql, *args))


async def fetch_value(conn: "Connection", sql: str, *args: Any) -> Any:
    """The first column of the first row."""
    return cast("Any", await conn.fetchval(sql, *args))
