"""What a new connection must prove, and what an error says about the shard's owner; for both kinds of connections."""

from typing import Any, NamedTuple, NoReturn, cast

import psycopg
from psycopg import pq
from psycopg.rows import tuple_row

from shardwright.errors import NotOwner, ServerUnavailable, SetupInvalid
from shardwright.psycopg.connection import AsyncShardConnection, ShardConnection
from shardwright.psycopg.map_cache import PRIMARY
from shardwright.routing import OutcomeUnknown
from shardwright.topology import SQLSTATE_NOT_OWNER, Server, ShardMap, is_owned_sql

# A schema that may not be used, or a schema, table, function or type that is missing: the shard's old copy is fenced
# for reads, or was dropped.
_MISSING = ("42501", "3F000", "42P01", "42883", "42704")
# Prepared statements would meet other shards' columns half-way through a migration, and other clients' names
# behind a pooler.
CONNECT_ARGS: dict[str, Any] = {**PRIMARY, "prepare_threshold": None}
MAX_IDLE = 8
"""Connections that are kept open per server."""
NOT_OWNER_WAIT_S = 5.0
"""How long a shard that is being moved is waited for."""
PAUSE_S = 0.05


class _Proof(NamedTuple):
    pid: int
    server_name: str | None
    is_owner: bool


def proof_sql(number: int | None) -> bytes:
    """The query that tells which server this is, whether a pooler is in between, and whether it owns the shard."""
    owned = "true" if number is None else is_owned_sql(number)
    sql = f"SELECT pg_backend_pid(), (SELECT server_name FROM shardwright.identity), {owned}"  # noqa: S608 - from a checked number
    return sql.encode()


def open_checked(server: Server, number: int | None, /, **connect_args: Any) -> ShardConnection:
    """Open a connection to a server that proved its name, bound to the shard; `NotOwner` if the shard is elsewhere."""
    try:
        conn = ShardConnection.connect(server.dsn, **_arguments(connect_args))
    except psycopg.OperationalError as error:
        raise _unavailable(server, error) from error
    try:
        check_server(conn, server, number)
        conn.autocommit = connect_args.get("autocommit", False)
    except BaseException:
        conn.close()
        raise
    conn.bind(number)
    return conn


async def open_checked_async(
    server: Server, number: int | None, /, **connect_args: Any
) -> AsyncShardConnection:
    """The same, for asyncio."""
    try:
        conn = await AsyncShardConnection.connect(server.dsn, **_arguments(connect_args))
    except psycopg.OperationalError as error:
        raise _unavailable(server, error) from error
    try:
        await check_server_async(conn, server, number)
        await conn.set_autocommit(connect_args.get("autocommit", False))
    except BaseException:
        await conn.close()
        raise
    conn.bind(number)
    return conn


def check_server(conn: ShardConnection, server: Server, number: int | None = None) -> None:
    """Raise unless the connection leads to this server, which owns the shard; notes whether a pooler is between."""
    # Whatever the cursors and rows of the caller look like.
    with psycopg.Cursor(conn, row_factory=tuple_row) as cursor:
        row = cursor.execute(proof_sql(number)).fetchone()
    _judge(conn, server, number, _Proof(*cast("tuple[Any, ...]", row)))


async def check_server_async(conn: AsyncShardConnection, server: Server, number: int | None = None) -> None:
    """The same, for asyncio."""
    async with psycopg.AsyncCursor(conn, row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(proof_sql(number))).fetchone()
    _judge(conn, server, number, _Proof(*cast("tuple[Any, ...]", row)))


def _judge(
    conn: ShardConnection | AsyncShardConnection, server: Server, number: int | None, proof: _Proof
) -> None:
    if proof.server_name != server.name:
        raise SetupInvalid(f"the address of server {server.name} leads to server {proof.server_name}")
    conn.is_behind_pooler = proof.pid != conn.info.backend_pid
    if not proof.is_owner:
        raise NotOwner(f"server {server.name} does not own shard {number}")


def is_reusable(conn: ShardConnection | AsyncShardConnection) -> bool:
    """Whether the connection works, has no transaction open and is not full, so that another caller may use it."""
    return not conn.closed and not conn.is_full and conn.info.transaction_status == pq.TransactionStatus.IDLE


def is_moved(error: BaseException, number: int, server: str, latest: ShardMap) -> bool:
    """Whether the error says that the shard is elsewhere: a refused write, or a table that cannot be read here."""
    sqlstate = getattr(error, "sqlstate", None)
    if sqlstate == SQLSTATE_NOT_OWNER:
        return True
    return sqlstate in _MISSING and latest.server_of(number).name != server


def is_fenced(server: Server, number: int) -> bool:
    """Whether the server refuses the shard, which another one will own in a moment; asked over a new connection."""
    try:
        open_checked(server, number).close()
    except NotOwner:
        return True
    except ServerUnavailable:
        return False  # nothing is known: what the caller has is raised
    return False


async def is_fenced_async(server: Server, number: int) -> bool:
    """The same, for asyncio."""
    try:
        await (await open_checked_async(server, number)).close()
    except NotOwner:
        return True
    except ServerUnavailable:
        return False  # nothing is known: what the caller has is raised
    return False


def may_be_moved(error: BaseException) -> bool:
    """Whether it is worth loading the map again after this error."""
    return getattr(error, "sqlstate", None) in {SQLSTATE_NOT_OWNER, *_MISSING}


def not_owner(number: int) -> NotOwner:
    """The error for a transaction that met a shard being moved."""
    return NotOwner(f"shard {number} is being moved or has moved: repeat the transaction")


def outcome_unknown(number: int, error: Exception) -> OutcomeUnknown:
    """The error for a connection that was lost while it committed."""
    return OutcomeUnknown(f"COMMIT was sent to shard {number}, then: {error}")


def _arguments(connect_args: dict[str, Any]) -> Any:  # psycopg declares each of them with its own type
    return CONNECT_ARGS | connect_args | {"autocommit": True}


def _unavailable(server: Server, error: Exception) -> ServerUnavailable:
    return ServerUnavailable(f"server {server.name} does not answer: {error}")


def raise_timed_out(number: int, error: Exception) -> NoReturn:
    """Raise `NotOwner` after waiting in vain for a shard's new owner."""
    raise NotOwner(f"no server has owned shard {number} for too long") from error
