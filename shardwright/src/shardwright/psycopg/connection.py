"""psycopg connections whose search_path leads to a shard.

Each transaction sets it for itself (SET LOCAL), in the round trip of its BEGIN: nothing outlives the transaction,
also behind a transaction pooler, and binding the connection to another shard costs nothing. In autocommit mode the
session's search_path is set before the next statement, if it is not right yet; behind a pooler, where the session
belongs to everybody, such a statement is refused.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import generators, pq

from shardwright.errors import SetupInvalid
from shardwright.routing import PoolOptions
from shardwright.routing.pooled_connection import RESET_SESSION_SQL
from shardwright.topology import search_path

if TYPE_CHECKING:
    from psycopg._connection_base import BaseConnection
    from psycopg.abc import PQGen

    _Base = BaseConnection[Any]
else:
    _Base = object

_IDLE = pq.TransactionStatus.IDLE
MAX_SHARDS_TOUCHED = PoolOptions().shards_per_connection
"""A backend caches about 0.2 MB for every shard that it touched and never frees it: pools replace fuller ones."""


class _BoundToShard(_Base):
    """What the synchronous and the asynchronous connection have in common: the search_path."""

    shard_number: int | None = None
    is_behind_pooler: bool = False
    resets_session: bool = False  # before the next transaction; for connections that others have used
    _session_shard: int | None = None  # where the session's own search_path leads
    _shards_touched: frozenset[int] = frozenset()

    def bind(self, number: int | None) -> None:
        """Lead to this shard from the next transaction on, or from the next statement in autocommit mode."""
        self.shard_number = number
        if number is not None and number not in self._shards_touched:
            self._shards_touched |= {number}

    @property
    def is_full(self) -> bool:
        """Whether it has led to so many shards that a new connection should take its place."""
        return len(self._shards_touched) >= MAX_SHARDS_TOUCHED

    def _start_query(self) -> "PQGen[None]":
        if self._autocommit and self.pgconn.transaction_status == _IDLE:
            yield from self._set_session_path()
        yield from super()._start_query()

    def _set_session_path(self) -> "PQGen[None]":
        if self.shard_number is None or self.shard_number == self._session_shard:
            return
        if self.is_behind_pooler:
            raise SetupInvalid(
                "behind a transaction pooler a statement on a shard needs a transaction: turn autocommit off"
            )
        yield from self._exec_command(f"SET search_path = {search_path(self.shard_number)}".encode())
        self._session_shard = self.shard_number

    def _get_tx_start_command(self) -> bytes:
        begin = super()._get_tx_start_command()
        if self.shard_number is None:
            return begin
        reset = b""
        if self.resets_session:
            reset, self.resets_session, self._session_shard = RESET_SESSION_SQL.encode(), False, None
        return reset + begin + f"; SET LOCAL search_path = {search_path(self.shard_number)}".encode()

    def _exec_command(self, command: Any, result_format: pq.Format = pq.Format.TEXT) -> "PQGen[Any]":
        """Send a command of psycopg's own; a transaction's start may hold several statements, in one round trip."""
        if not isinstance(command, bytes) or b";" not in command:
            return (yield from super()._exec_command(command, result_format))
        if self._pipeline:  # its extended protocol takes one statement at a time
            for statement in command.split(b"; "):
                if statement:
                    yield from super()._exec_command(statement, result_format)
            return None
        return (yield from self._exec_script(command))

    def _exec_script(self, script: bytes) -> Generator[Any, Any, Any]:
        self._check_connection_ok()
        self.pgconn.send_query(script)
        results = yield from generators.execute(self.pgconn)
        for result in results:
            if result.status == pq.ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result, encoding=self.info.encoding)
        return results[-1]


class ShardConnection(_BoundToShard, psycopg.Connection[Any]):
    """A psycopg connection that can be bound to a shard."""


class AsyncShardConnection(_BoundToShard, psycopg.AsyncConnection[Any]):
    """An asynchronous psycopg connection that can be bound to a shard."""
