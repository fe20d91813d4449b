"""The shard map for programs without an event loop: loaded with psycopg, cached, shared by threads.

There is no background task to hear of changes. A map is loaded again when it is older than `max_age_s`, and at once
after a server has refused a write (SW001). While the directory is down, the cached map is used.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.topology import LOAD_MAP_SQL, NO_TABLES, Placer, ShardMap, map_from_row

log = logging.getLogger(__name__)

NO_DSNS: Mapping[str, str] = MappingProxyType({})
MAX_AGE_S = 30.0
UNKNOWN_INTERVAL_S = 1.0
CONNECT_TIMEOUT_S = 10
# libpq's own name for what `open_connection` asks of asyncpg: a standby may lag.
PRIMARY: dict[str, Any] = {"target_session_attrs": "primary", "connect_timeout": CONNECT_TIMEOUT_S}


def load_map(directory_dsn: str, *, dsns: Mapping[str, str] = NO_DSNS) -> ShardMap:
    """The latest map; `dsns` overrides its server addresses, by server name."""
    try:
        with psycopg.connect(directory_dsn, autocommit=True, **PRIMARY) as conn:
            cursor = conn.cursor(row_factory=dict_row, binary=True)
            row = cursor.execute(LOAD_MAP_SQL.encode(), prepare=False).fetchone()
    except psycopg.Error as error:
        raise _explain(error) from error
    return _read(row, dsns)


async def load_map_async(directory_dsn: str, *, dsns: Mapping[str, str] = NO_DSNS) -> ShardMap:
    """The latest map, for asyncio."""
    try:
        async with await psycopg.AsyncConnection.connect(directory_dsn, autocommit=True, **PRIMARY) as conn:
            cursor = conn.cursor(row_factory=dict_row, binary=True)
            row = await (await cursor.execute(LOAD_MAP_SQL.encode(), prepare=False)).fetchone()
    except psycopg.Error as error:
        raise _explain(error) from error
    return _read(row, dsns)


def _read(row: DictRow | None, dsns: Mapping[str, str]) -> ShardMap:
    if row is None:
        raise SetupInvalid(NO_TABLES)
    return map_from_row(row).with_dsns(dsns)


def _explain(error: psycopg.Error) -> Exception:
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
        return SetupInvalid(NO_TABLES)
    return ServerUnavailable(f"the directory does not answer: {error}")


class MapCache:
    """The latest known map of a directory; safe for threads, and for one event loop."""

    def __init__(
        self, directory_dsn: str, *, dsns: Mapping[str, str] | None = None, max_age_s: float = MAX_AGE_S
    ) -> None:
        self._dsn = directory_dsn
        self._dsns = dict(dsns or {})
        self._max_age_s = max_age_s
        self._lock = threading.Lock()
        self._loading: asyncio.Task[ShardMap] | None = None
        self._map: ShardMap | None = None
        self._placer: Placer | None = None
        self._loaded_at = 0.0
        self._unknown_at = float(
            "-inf"
        )  # when the map was last loaded again for a shard that it did not have
        self.unknown_interval_s = UNKNOWN_INTERVAL_S

    def current(self) -> ShardMap:
        """The cached map; loaded first when there is none, or when it is old."""
        known = self._map
        if known is not None and not self._is_old():
            return known
        return self._load(known, is_optional=True)

    def known(self) -> ShardMap:
        """The cached map, however old; raises when none was loaded."""
        if self._map is None:
            raise SetupInvalid("no shard map was loaded yet: open the shards first")
        return self._map

    def refresh(self) -> ShardMap:
        """Load the map now; callers at the same time share one load."""
        return self._load(self._map, is_optional=False)

    def has_shard(self, number: int) -> bool:
        """Whether the map has this shard; loaded again for one that it does not have, which may be new.

        At most every `unknown_interval_s`: ids that somebody made up cannot keep the directory busy.
        """
        if number in self.current().owners:
            return True
        now = time.monotonic()
        if now - self._unknown_at < self.unknown_interval_s:
            return False
        self._unknown_at = now
        return number in self._load(self._map, is_optional=True).owners

    async def current_async(self) -> ShardMap:
        """The cached map, for asyncio."""
        known = self._map
        if known is not None and not self._is_old():
            return known
        try:
            return await self.refresh_async()
        except ServerUnavailable as error:
            return self._keep(known, error)

    async def refresh_async(self) -> ShardMap:
        """Load the map now; callers at the same time share one load."""
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load_async())
        return await asyncio.shield(self._loading)

    def place(self) -> int:
        """The shard for a new tenant, by the weights of servers and shards."""
        with self._lock:
            if self._placer is None:
                self._placer = Placer(self.known())
            return self._placer.place()

    def _is_old(self) -> bool:
        return time.monotonic() - self._loaded_at > self._max_age_s

    def _load(self, known: ShardMap | None, *, is_optional: bool) -> ShardMap:
        with self._lock:
            if self._map is not None and self._map is not known:
                return self._map  # another thread has just loaded it
            try:
                return self._store(load_map(self._dsn, dsns=self._dsns))
            except ServerUnavailable as error:
                if not is_optional:
                    raise
                return self._keep(known, error)

    async def _load_async(self) -> ShardMap:
        return self._store(await load_map_async(self._dsn, dsns=self._dsns))

    def _store(self, latest: ShardMap) -> ShardMap:
        self._loaded_at = time.monotonic()
        if self._map is None or latest.version > self._map.version:
            self._map, self._placer = latest, None
        return self._map

    def _keep(self, known: ShardMap | None, error: ServerUnavailable) -> ShardMap:
        """Continue with the map we have, and ask again later; raises when there is none."""
        if known is None:
            raise error
        log.warning("map.kept: version %s is used: %s", known.version, error)
        self._loaded_at = time.monotonic()
        return known
