"""Engines for synchronous programs."""

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, create_engine

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.psycopg.map_cache import MAX_AGE_S, MapCache
from shardwright.psycopg.server_connections import NOT_OWNER_WAIT_S, PAUSE_S, is_fenced, open_checked
from shardwright.sqlalchemy.events import SERVER, SHARD, listen
from shardwright.topology import Server, ShardMap

T = TypeVar("T")


class ShardEngines:
    """An engine for every shard; open one with `ShardEngines.open`."""

    def __init__(
        self, maps: MapCache, engine_args: Mapping[str, Any], *, not_owner_wait_s: float = NOT_OWNER_WAIT_S
    ) -> None:
        self.maps = maps
        self._connect_args = dict(engine_args.get("connect_args", {}))
        self._engine_args = {name: each for name, each in engine_args.items() if name != "connect_args"}
        self._not_owner_wait_s = not_owner_wait_s
        self._lock = threading.Lock()
        self._servers: dict[str, tuple[Server, Engine]] = {}
        self._shards: dict[int, Engine] = {}

    @classmethod
    def open(
        cls,
        directory_dsn: str,
        *,
        dsns: Mapping[str, str] | None = None,
        max_age_s: float = MAX_AGE_S,
        not_owner_wait_s: float = NOT_OWNER_WAIT_S,
        **engine_args: Any,
    ) -> Self:
        """Load the shard map. Other arguments go to `create_engine`; `pool_size` is per server."""
        maps = MapCache(directory_dsn, dsns=dsns, max_age_s=max_age_s)
        maps.refresh()
        return cls(maps, engine_args, not_owner_wait_s=not_owner_wait_s)

    @property
    def map(self) -> ShardMap:
        """The latest known map."""
        return self.maps.current()

    def owner(self, id: int) -> Engine:  # noqa: A002 - an id is called an id
        """The engine of the shard that an id belongs to."""
        return self.shard(self.map.layout.id_shard(id))

    def of(self, key: str | bytes) -> Engine:
        """The engine of a lookup key's shard, by hash; it never changes."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> Engine:
        """The engine of a shard for a new tenant; `shard_of_engine` tells which it is."""
        return self.shard(self.maps.place())

    def shard(self, number: int) -> Engine:
        """The engine of a shard, on the server that owns it now: ask again rather than keeping it."""
        self.maps.has_shard(number)  # loads the map again for a shard that may be new
        server = self.map.server_of(number)
        with self._lock:
            base = self._server_engine(server)
            engine = self._shards.get(number)
            if engine is None or engine.pool is not base.pool:
                engine = base.execution_options(**{SHARD: number, SERVER: server.name})
                self._shards[number] = engine
            return engine

    def transact(self, find: Callable[[Self], Engine], body: Callable[[Connection], T]) -> T:
        """Run `body` in a transaction on the engine that `find` returns; repeated while its shard is being moved.

        engines.transact(lambda engines: engines.owner(post_id), lambda conn: conn.execute(…))
        """
        deadline = time.monotonic() + self._not_owner_wait_s
        while True:
            try:
                with find(self).begin() as conn:
                    return body(conn)
            except NotOwner:
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_S)

    def dispose(self) -> None:
        """Close the connections of all pools."""
        with self._lock:
            engines = [engine for _, engine in self._servers.values()]
            self._servers, self._shards = {}, {}
        for engine in engines:
            engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    def _server_engine(self, server: Server) -> Engine:
        known = self._servers.get(server.name)
        if known is not None:
            if known[0].dsn == server.dsn:
                return known[1]
            known[1].dispose()  # its address has changed
        engine = create_engine(
            "postgresql+psycopg://",
            creator=partial(open_checked, server, None, **self._connect_args),
            **self._engine_args,
        )
        listen(engine, self._refresh, is_fenced)
        self._servers[server.name] = (server, engine)
        return engine

    def _refresh(self) -> ShardMap:
        with contextlib.suppress(ServerUnavailable):  # the directory; its latest known map has to do
            self.maps.refresh()
        return self.map
