"""Shards for synchronous programs: psycopg connections to whichever server owns a shard.

`connect` opens a connection of the caller's own. `begin` and `transact` use idle connections of this object, a few per
server and not per shard: a transaction brings its own search_path.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Self, TypeVar

import psycopg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.ids import schema_name
from shardwright.psycopg.connection import ShardConnection
from shardwright.psycopg.map_cache import MAX_AGE_S, MapCache
from shardwright.psycopg.server_connections import (
    MAX_IDLE,
    NOT_OWNER_WAIT_S,
    PAUSE_S,
    is_fenced,
    is_moved,
    is_reusable,
    may_be_moved,
    not_owner,
    open_checked,
    outcome_unknown,
    raise_timed_out,
)
from shardwright.topology import Server, ShardMap

T = TypeVar("T")


class SyncShard:
    """One shard, on whichever server owns it at the moment."""

    def __init__(self, shards: "SyncShards", number: int) -> None:
        self._shards = shards
        self.number = number
        self.schema = schema_name(number)

    @property
    def server(self) -> str:
        """The name of the server that owns it, according to the map."""
        return self._shards.map.server_of(self.number).name

    def connect(self, **connect_args: Any) -> ShardConnection:
        """Open a psycopg connection of your own, bound to this shard; psycopg's arguments are passed on.

        A shard that is being moved is waited for. After a later move its old server refuses writes (SQLSTATE SW001) and
        reads (42501, 42P01): connect again, or use `transact`, which does.
        """
        return self._shards.wait_for_owner(
            self.number, lambda server: open_checked(server, self.number, **connect_args)
        )

    @contextlib.contextmanager
    def begin(self) -> Generator[ShardConnection]:
        """A transaction on this shard: `with shard.begin() as conn`; commits at the end.

        Raises `NotOwner`, with nothing changed, when the shard is being moved: repeat it.
        """
        conn, server = self._shards.acquire(self.number)
        is_committing = False
        try:
            with conn.transaction():
                yield conn
                is_committing = True
        except psycopg.Error as error:
            if is_committing and conn.broken:
                raise outcome_unknown(self.number, error) from error
            self._shards.raise_if_moved(error, self.number, server)
            raise
        finally:
            self._shards.release(conn, server)

    def transact(self, body: Callable[[ShardConnection], T]) -> T:
        """Run `body` in a transaction and return its result; the whole is repeated while the shard is being moved."""
        deadline = time.monotonic() + self._shards.not_owner_wait_s
        while True:
            try:
                with self.begin() as conn:
                    return body(conn)
            except NotOwner:
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_S)

    def __repr__(self) -> str:
        return f"SyncShard({self.number})"


class SyncShards:
    """All shards, for threads of one process; open one with `SyncShards.open`."""

    def __init__(
        self, maps: MapCache, *, not_owner_wait_s: float = NOT_OWNER_WAIT_S, max_idle: int = MAX_IDLE
    ) -> None:
        self.maps = maps
        self.not_owner_wait_s = not_owner_wait_s
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, str], list[ShardConnection]] = {}

    @classmethod
    def open(
        cls,
        directory_dsn: str,
        *,
        dsns: Mapping[str, str] | None = None,
        max_age_s: float = MAX_AGE_S,
        max_idle: int = MAX_IDLE,
        not_owner_wait_s: float = NOT_OWNER_WAIT_S,
    ) -> Self:
        """Load the shard map. `dsns` overrides the servers' addresses; `max_idle` connections per server are kept."""
        maps = MapCache(directory_dsn, dsns=dsns, max_age_s=max_age_s)
        maps.refresh()
        return cls(maps, not_owner_wait_s=not_owner_wait_s, max_idle=max_idle)

    @property
    def map(self) -> ShardMap:
        """The latest known map."""
        return self.maps.current()

    def owner(self, id: int) -> SyncShard:  # noqa: A002 - an id is called an id
        """The shard that an id belongs to."""
        return self.shard(self.map.layout.id_shard(id))

    def of(self, key: str | bytes) -> SyncShard:
        """The shard of a lookup key, by hash; it never changes."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> SyncShard:
        """Choose a shard for a new tenant."""
        return self.shard(self.maps.place())

    def shard(self, number: int) -> SyncShard:
        """A shard by its number; one that the map does not have is looked for in the latest map."""
        if not self.maps.has_shard(number):
            self.map.server_of(number)  # raises `InvalidId`
        return SyncShard(self, number)

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are released."""
        with self._lock:
            idle, self._idle, self._max_idle = self._idle, {}, 0
        for connections in idle.values():
            for conn in connections:
                conn.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def acquire(self, number: int) -> tuple[ShardConnection, Server]:
        """A usable connection to the shard's server, bound to it."""
        server = self.map.server_of(number)
        while (conn := self._pop_idle(server)) is not None:
            if _answers(conn):
                conn.resets_session = True
                conn.bind(number)
                return conn, server
            conn.close()
        return self.wait_for_owner(
            number, lambda owner: (open_checked(owner, number, autocommit=True), owner)
        )

    def release(self, conn: ShardConnection, server: Server) -> None:
        """Keep a connection for the next transaction on its server, or close it."""
        if is_reusable(conn):
            with self._lock:
                idle = self._idle.setdefault((server.name, server.dsn), [])
                if len(idle) < self._max_idle:
                    idle.append(conn)
                    return
        conn.close()

    def raise_if_moved(self, error: psycopg.Error, number: int, server: Server) -> None:
        """Load the map again if the error says that the shard is elsewhere, and raise `NotOwner`."""
        if may_be_moved(error):
            with contextlib.suppress(ServerUnavailable):  # the directory; the caller repeats either way
                self.maps.refresh()
            if is_moved(error, number, server.name, self.map) or is_fenced(server, number):
                raise not_owner(number) from error

    def wait_for_owner(self, number: int, open_on: Callable[[Server], T]) -> T:
        """Call `open_on` with the shard's server; repeated with newer maps while the server does not own it."""
        deadline = time.monotonic() + self.not_owner_wait_s
        while True:
            try:
                return open_on(self.map.server_of(number))
            except NotOwner as error:
                if time.monotonic() > deadline:
                    raise_timed_out(number, error)
            with contextlib.suppress(ServerUnavailable):  # the map may still be right
                self.maps.refresh()
            time.sleep(PAUSE_S)

    def _pop_idle(self, server: Server) -> ShardConnection | None:
        with self._lock:
            idle = self._idle.get((server.name, server.dsn))
            return idle.pop() if idle else None


def _answers(conn: ShardConnection) -> bool:
    """Whether an idle connection still works: nothing of the caller's has been sent yet, so it may be replaced."""
    conn.bind(None)
    try:
        conn.execute("")
    except psycopg.OperationalError:
        return False
    return True
