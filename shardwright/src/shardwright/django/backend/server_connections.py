"""Connections to servers, shared by the shards of each: one per thread and server, more only for nested transactions.

Each shard has a Django `DatabaseWrapper` of its own, with its own transaction state. A wrapper holds a server's
connection while it uses it, and keeps it for its transaction; one that is in no transaction gives way to the next.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asgiref.local import Local
from django.db import connections
from psycopg import pq

from shardwright.psycopg import ShardConnection
from shardwright.topology import Server

if TYPE_CHECKING:
    from shardwright.django.backend.base import DatabaseWrapper

MAX_WRAPPERS = 256
"""How many wrappers without a connection a thread keeps; making one takes a fraction of a millisecond."""

_threads = Local(thread_critical=True)  # as Django's own connections are


@dataclass
class ServerConnection:
    """A connection to a server, the wrapper that holds it, and what Django must remember of it between two wrappers."""

    connection: ShardConnection
    server: Server
    holder: "DatabaseWrapper"
    close_at: float | None
    errors_occurred: bool = False
    health_check_done: bool = True

    def leads_to(self, server: Server) -> bool:
        """Whether this is a connection to that server, at its present address."""
        return (self.server.name, self.server.dsn) == (server.name, server.dsn)

    def is_free(self) -> bool:
        """Whether its holder can do without it."""
        return (
            not self.holder.is_in_transaction
            and self.connection.info.transaction_status == pq.TransactionStatus.IDLE
        )


class ThreadConnections:
    """The server connections of one thread."""

    def __init__(self) -> None:
        self.open: list[ServerConnection] = []
        self._idle_wrappers: OrderedDict[str, None] = OrderedDict()

    def take(self, wrapper: "DatabaseWrapper", server: Server) -> ServerConnection | None:
        """An open connection to the server for this wrapper, taken from another one, or None."""
        self._idle_wrappers.pop(wrapper.alias, None)
        for each in self.open:
            if each.leads_to(server) and each.is_free():
                each.holder.detach()
                self._let_idle(each.holder)
                each.holder = wrapper
                return each
        return None

    def is_surplus(self, held: ServerConnection) -> bool:
        """Whether the thread has another free connection to the same server."""
        return held.is_free() and any(
            each is not held and each.leads_to(held.server) and each.is_free() for each in self.open
        )

    def add(self, opened: ServerConnection) -> None:
        """Remember a new connection."""
        self.open.append(opened)

    def remove(self, closed: ServerConnection) -> None:
        """Forget a connection that is closed."""
        if closed in self.open:
            self.open.remove(closed)

    def _let_idle(self, wrapper: "DatabaseWrapper") -> None:
        """Keep the wrapper for its next use, unless there are too many of them."""
        if wrapper.is_watched():
            return
        self._idle_wrappers[wrapper.alias] = None
        if len(self._idle_wrappers) > MAX_WRAPPERS:
            oldest, _ = self._idle_wrappers.popitem(last=False)
            del connections[oldest]


def thread_connections() -> ThreadConnections:
    """The server connections of the current thread."""
    found: Any = getattr(_threads, "connections", None)
    if found is None:
        found = _threads.connections = ThreadConnections()
    return found


def connected_aliases() -> list[str]:
    """The shards that a connection of this thread leads to."""
    return [each.holder.alias for each in thread_connections().open]


def close_full_connections() -> None:
    """Close connections of this thread that have led to many shards: their backends have grown."""
    for each in list(thread_connections().open):
        if each.connection.is_full and each.is_free():
            each.holder.close()
