"""The watch of the shard map outlasts whatever a connection may end with."""

import asyncio
from typing import cast

import asyncpg
import pytest
from asyncpg import Connection

from shardwright.topology import map_watcher
from shardwright.topology.map_watcher import MapWatcher
from shardwright.topology.shard_map import ShardMap


class _Connection:
    def add_termination_listener(self, _listener: object) -> None: ...
    async def add_listener(self, _channel: str, _listener: object) -> None: ...
    def is_closed(self) -> bool:
        return False

    def terminate(self) -> None: ...


class _Map:
    version = 1


class _Source:
    """Fails as given, once each, then has a map."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)

    async def connection(self) -> Connection:
        return cast("Connection", _Connection())

    async def read(self, conn: Connection) -> ShardMap:
        assert conn
        if self._failures:
            raise self._failures.pop(0)
        return cast("ShardMap", _Map())


@pytest.mark.parametrize(
    "failure",
    [
        asyncpg.InternalClientError("cannot switch to state 11; another operation (2) is in progress"),
        asyncpg.InterfaceError("connection is closed"),
        ConnectionResetError(),
    ],
    ids=lambda failure: type(failure).__name__,
)
async def test_the_watch_goes_on_after_a_lost_connection(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_watcher, "RECONNECT_S", 0.0)
    seen: asyncio.Queue[ShardMap] = asyncio.Queue()
    watcher = MapWatcher(_Source(failure), seen.put_nowait, poll_s=60)
    watcher.reconnect()  # there is no connection yet to leave
    try:
        async with asyncio.timeout(20):
            assert (await seen.get()).version == 1
    finally:
        await watcher.close()
