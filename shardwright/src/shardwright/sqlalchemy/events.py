"""What happens to a server's engine: its connections are bound to the shard in use, and moves are noticed."""

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine

from shardwright.errors import SetupInvalid
from shardwright.psycopg.server_connections import is_moved, may_be_moved, not_owner
from shardwright.topology import Server, ShardMap

SHARD = "shardwright_shard"
SERVER = "shardwright_server"

Refresh = Callable[[], ShardMap]
IsFenced = Callable[[Server, int], bool]
"""Whether a server refuses a shard that the map says it owns."""


def listen(engine: Engine, refresh: Refresh, is_fenced: IsFenced) -> None:
    """Bind connections of this engine to the shard of the engine's view that uses them."""
    event.listen(engine, "checkout", _unbind)
    event.listen(engine, "begin", _bind)
    event.listen(engine, "handle_error", partial(_raise_if_moved, refresh, is_fenced))


def shard_of_engine(engine: Engine | AsyncEngine) -> int:
    """The number of the shard that an engine is bound to."""
    number = engine.get_execution_options().get(SHARD)
    if number is None:
        raise SetupInvalid("this engine is not bound to a shard: get one from ShardEngines")
    return number


def _unbind(_dbapi_connection: Any, record: Any, _proxy: Any) -> None:
    """A connection fresh from the pool leads to no shard: its last user's would be the wrong one."""
    if record.driver_connection.is_full:
        raise DisconnectionError("this connection has led to many shards")  # the pool opens another one
    record.driver_connection.bind(None)


def _bind(connection: Connection) -> None:
    """Before each transaction: the connection may have been replaced since the last one."""
    driver_connection: Any = connection.connection.driver_connection
    driver_connection.bind(connection.get_execution_options().get(SHARD))


def _raise_if_moved(refresh: Refresh, is_fenced: IsFenced, context: ExceptionContext) -> None:
    error = context.original_exception
    if context.connection is None or not may_be_moved(error):
        return
    options = context.connection.get_execution_options()
    if SHARD not in options:
        return
    number, latest = options[SHARD], refresh()
    if is_moved(error, number, options[SERVER], latest) or is_fenced(latest.server_of(number), number):
        raise not_owner(number) from error
