"""Watches that no two servers own a shard at the same moment, while everything about them is killed."""

import asyncio
from collections.abc import Mapping, Sequence

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.topology import fetch_rows, open_connection, owned_numbers

_CHANGES = "SELECT ownership FROM shardwright.replication"
_PAUSE_S = 0.05


class OwnerWatch:
    """Looks at both servers in turn, for as long as it runs.

    Two looks at one server between which nothing has changed there say what was true all the while; a look at the
    other one in between must not find another owner.
    """

    def __init__(self, dsns: Mapping[str, str], shards: Sequence[int]) -> None:
        self._dsns = dsns
        self._shards = shards
        self._task: asyncio.Task[None] | None = None
        self.looks = 0
        self.shared: list[str] = []
        """Shards that two servers owned."""

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._watch())

    async def stop(self) -> None:
        """Look no more."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            conns: list[asyncpg.Connection] = []
            try:
                for name, dsn in self._dsns.items():
                    conns.append(await open_connection(dsn, name))
                while True:
                    await self._look(*conns)
                    await asyncio.sleep(_PAUSE_S)
            except (
                ShardwrightError,
                OSError,
                asyncpg.PostgresError,
                asyncpg.InterfaceError,
                asyncpg.InternalClientError,
            ):
                await asyncio.sleep(_PAUSE_S)  # one of them is down
            finally:
                for conn in conns:
                    conn.terminate()

    async def _look(self, one: asyncpg.Connection, other: asyncpg.Connection) -> None:
        before = await fetch_rows(one, _CHANGES)
        mine = set(await owned_numbers(one, self._shards))
        theirs = set(await owned_numbers(other, self._shards))
        if before == await fetch_rows(one, _CHANGES) and mine == set(await owned_numbers(one, self._shards)):
            self.looks += 1
            self.shared += [f"shard {number}" for number in mine & theirs]


async def owners_of(dsns: Mapping[str, str], number: int) -> list[str]:
    """The servers that accept writes to a shard."""
    found: list[str] = []
    for name, dsn in dsns.items():
        conn = await open_connection(dsn, name)
        found += [name] if await owned_numbers(conn, [number]) else []
        await conn.close()
    return found
