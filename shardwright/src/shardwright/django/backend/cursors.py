"""Cursors for Django's autocommit mode behind a transaction pooler.

There the session belongs to everybody, so a statement outside a transaction gets one of its own, which brings the
shard's search_path. Without a pooler these are Django's own cursors.
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from django.db.backends.postgresql.base import Cursor, ServerBindingCursor
from psycopg import pq


class _InTransaction:
    """Runs a statement in a transaction where the session's search_path cannot be used."""

    connection: Any

    def execute(self, *args: Any, **kwargs: Any) -> Any:
        with self._transaction():
            return super().execute(*args, **kwargs)

    def executemany(self, *args: Any, **kwargs: Any) -> Any:
        with self._transaction():
            return super().executemany(*args, **kwargs)

    @contextmanager
    def copy(self, *args: Any, **kwargs: Any) -> Generator[Any]:
        with self._transaction(), super().copy(*args, **kwargs) as copy:
            yield copy

    def _transaction(self) -> AbstractContextManager[Any]:
        connection = self.connection
        if (
            connection.is_behind_pooler
            and connection.shard_number is not None
            and connection.autocommit
            and connection.info.transaction_status == pq.TransactionStatus.IDLE
        ):
            return connection.transaction()
        return nullcontext()


class PooledClientCursor(_InTransaction, Cursor):
    """Django's cursor with client-side binding."""


class PooledCursor(_InTransaction, ServerBindingCursor):
    """Django's cursor with server-side binding."""
