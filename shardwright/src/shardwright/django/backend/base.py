"""Django's PostgreSQL backend on one shard."""

import contextlib
import time
from typing import Any

from django.db import DatabaseError
from django.db.backends.postgresql import base as postgresql
from django.utils.asyncio import async_unsafe
from psycopg import IsolationLevel

from shardwright.django.backend.cursors import PooledClientCursor, PooledCursor
from shardwright.django.backend.introspection import DatabaseIntrospection
from shardwright.django.backend.schema import DatabaseSchemaEditor
from shardwright.django.backend.server_connections import ServerConnection, thread_connections
from shardwright.django.conf import get_maps
from shardwright.django.errors import ShardMoved
from shardwright.django.pending_shards import pending_server
from shardwright.errors import ServerUnavailable
from shardwright.ids import shard_number
from shardwright.psycopg import ShardConnection, check_server, is_moved
from shardwright.psycopg.server_connections import (
    CONNECT_ARGS,
    NOT_OWNER_WAIT_S,
    PAUSE_S,
    is_fenced,
    may_be_moved,
)
from shardwright.topology import Server

_AUTO_FIELDS = ("AutoField", "BigAutoField", "SmallAutoField")


class DatabaseWrapper(postgresql.DatabaseWrapper):
    """One shard as a Django database; its connection is shared with the other shards of the server."""

    SchemaEditorClass = DatabaseSchemaEditor
    introspection_class = DatabaseIntrospection
    # Every automatic key is an id of the shard, and those are bigint.
    data_types = {**postgresql.DatabaseWrapper.data_types, **dict.fromkeys(_AUTO_FIELDS, "bigint")}
    data_types_suffix = dict.fromkeys(_AUTO_FIELDS, "DEFAULT next_id()")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shard_number = shard_number(self.alias)
        self.execute_wrappers.append(self._follow_moves)
        self._held: ServerConnection | None = None

    @property
    def server(self) -> Server:
        """The server that owns the shard, according to the map."""
        return pending_server(self.shard_number) or get_maps().current().server_of(self.shard_number)

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, by `atomic` or by hand."""
        return self.in_atomic_block or (self.connection is not None and not self.autocommit)

    def ensure_connection(self) -> None:
        """Hold a connection to the server that owns the shard now."""
        held = self._held
        is_idle = held is not None and not self.is_in_transaction
        if is_idle and (held.connection.closed or not held.leads_to(self.server)):
            self.close()
        super().ensure_connection()

    @async_unsafe
    def connect(self) -> None:
        """Take a connection of this thread to the server, or open one."""
        server = self.server
        taken = thread_connections().take(self, server)
        if taken is None:
            super().connect()
            self._held = ServerConnection(self.connection, server, self, self.close_at)
            thread_connections().add(self._held)
        else:
            self._attach(taken)
        self.connection.bind(self.shard_number)

    def get_connection_params(self) -> dict[str, Any]:
        """Psycopg's arguments, without an address: that is the server's."""
        params = CONNECT_ARGS | super().get_connection_params()
        params.pop("dbname")
        is_server_binding = params["cursor_factory"] is postgresql.ServerBindingCursor
        params["cursor_factory"] = PooledCursor if is_server_binding else PooledClientCursor
        return params

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> ShardConnection:
        """Open a connection to the shard's server."""
        server = self.server
        wanted = self.settings_dict["OPTIONS"].get("isolation_level")
        self.isolation_level = IsolationLevel(wanted or IsolationLevel.READ_COMMITTED)
        connection = ShardConnection.connect(server.dsn, autocommit=True, **conn_params)
        try:
            check_server(connection, server)
        except BaseException:
            connection.close()
            raise
        if wanted:
            connection.isolation_level = self.isolation_level
        return connection

    def chunked_cursor(self) -> Any:
        """A server-side cursor; behind a transaction pooler, which has none that last, an ordinary one."""
        self.ensure_connection()
        return self.cursor() if self.connection.is_behind_pooler else super().chunked_cursor()

    def close_if_unusable_or_obsolete(self) -> None:
        """At a request's end: close a connection that is old, broken or full, or was for nested transactions."""
        super().close_if_unusable_or_obsolete()
        held = self._held
        if (
            held is not None
            and held.is_free()
            and (held.connection.is_full or thread_connections().is_surplus(held))
        ):
            self.close()

    def detach(self) -> None:
        """Give the connection up without closing it; the next query takes one again."""
        held, self._held, self.connection = self._held, None, None
        if held is not None:
            held.errors_occurred, held.health_check_done = self.errors_occurred, self.health_check_done

    def is_watched(self) -> bool:
        """Whether somebody instruments this very object, so that it must not be replaced."""
        return len(self.execute_wrappers) > 1 or self.force_debug_cursor

    def _attach(self, taken: ServerConnection) -> None:
        """What `connect` sets, for a connection that is open already."""
        self.in_atomic_block = self.needs_rollback = self.closed_in_transaction = False
        self.savepoint_ids, self.atomic_blocks, self.run_on_commit = [], [], []
        self.health_check_enabled = self.settings_dict["CONN_HEALTH_CHECKS"]
        self.close_at, self.errors_occurred = taken.close_at, taken.errors_occurred
        self.health_check_done = taken.health_check_done
        self.connection, self.autocommit, self._held = taken.connection, True, taken

    def _close(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            thread_connections().remove(held)
        super()._close()

    def _follow_moves(self, execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        """Repeat a refused statement at the shard's new owner, where nothing else has happened; else say so."""
        deadline = time.monotonic() + NOT_OWNER_WAIT_S
        while True:
            try:
                return execute(sql, params, many, context)
            except DatabaseError as error:
                if not self._has_moved(error):
                    raise
                if self.is_in_transaction or time.monotonic() > deadline:
                    raise ShardMoved(
                        f"shard {self.shard_number} is being moved or has moved: repeat the transaction"
                    ) from error
                time.sleep(PAUSE_S)
                context["cursor"].cursor = self._new_cursor()

    def _new_cursor(self) -> Any:
        self.ensure_connection()
        return self.create_cursor()

    def _has_moved(self, error: DatabaseError) -> bool:
        cause = error.__cause__
        if cause is None or not may_be_moved(cause) or self._held is None:
            return False
        maps = get_maps()
        with contextlib.suppress(ServerUnavailable):  # the directory; its latest known map has to do
            maps.refresh()
        server = self._held.server
        return is_moved(cause, self.shard_number, server.name, maps.current()) or is_fenced(
            server, self.shard_number
        )
