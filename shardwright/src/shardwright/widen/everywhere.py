"""Widening in every shard: several at a time on each server, none while it is migrated or moved."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from shardwright.ids import schema_name
from shardwright.migrations import LOCK_CLASS
from shardwright.topology import ShardMap, open_connection, with_primaries
from shardwright.widen.errors import WidenFailed, WidenRefused
from shardwright.widen.journal import Widening
from shardwright.widen.locks import try_advisory_lock
from shardwright.widen.models import ColumnName, OnWidenProgress, WidenOptions, no_progress
from shardwright.widen.widener import Widener

T = TypeVar("T")


class ShardWidener:
    """Widens the same columns in every shard of a map, or in some; the verbs are those of `Widener`."""

    def __init__(
        self,
        shard_map: ShardMap,
        numbers: Sequence[int] | None = None,
        *,
        options: WidenOptions | None = None,
        at_once: int = 2,
        progress: OnWidenProgress = no_progress,
    ) -> None:
        self._map = shard_map
        self._numbers = sorted(shard_map.owners) if numbers is None else sorted(set(numbers))
        self._options = options
        self._progress = progress
        self.longest_lock_ms = 0.0
        """The longest time for which it has locked tables of a shard so far."""
        self._turns = {name: asyncio.Semaphore(at_once) for name in shard_map.servers}
        unknown = [number for number in self._numbers if number not in shard_map.owners]
        if unknown:
            raise WidenRefused(f"there are no shards {', '.join(map(str, unknown))}")

    @property
    def shards(self) -> int:
        """How many shards it works on."""
        return len(self._numbers)

    async def plan(self, asked: Sequence[str]) -> list[ColumnName]:
        """The columns of the first shard that would be widened together; every shard is checked."""
        found = await self._in_all(lambda widener: widener.plan(asked), lock=False)
        return found[schema_name(self._numbers[0])] if self._numbers else []

    async def status(self) -> dict[str, Widening | None]:
        """The widening in progress, by shard."""
        return await self._in_all(lambda widener: widener.status(), lock=False)

    async def prepare(self, asked: Sequence[str]) -> None:
        """Everything but the exchange, in all shards."""
        await self._in_all(lambda widener: widener.prepare(asked))

    async def swap(self) -> None:
        """Exchange old and new columns, shard by shard."""
        await self._in_all(lambda widener: widener.swap())

    async def abort(self) -> None:
        """Remove what was added where it exists; refused where columns were exchanged."""
        await self._in_all(_abort_if_begun)

    async def finish(self) -> None:
        """Drop the old columns where they exist."""
        await self._in_all(_finish_if_begun)

    async def _in_all(self, work: Callable[[Widener], Awaitable[T]], *, lock: bool = True) -> dict[str, T]:
        owners = {self._map.owners[number] for number in self._numbers}
        servers = (await with_primaries(self._map, sorted(owners))).servers

        async def run(number: int) -> T:
            server = servers[self._map.owners[number]]
            widener = Widener(server.dsn, schema_name(number), options=self._options, progress=self._progress)
            async with self._turns[server.name]:
                try:
                    if not lock:
                        return await work(widener)
                    async with _kept_from_others(server.dsn, server.name, number):
                        return await work(widener)
                finally:
                    self.longest_lock_ms = max(self.longest_lock_ms, widener.longest_lock_ms)

        names = [schema_name(number) for number in self._numbers]
        results = await asyncio.gather(*(run(number) for number in self._numbers), return_exceptions=True)
        errors = [
            f"{name}: {error}"
            for name, error in zip(names, results, strict=True)
            if isinstance(error, BaseException)
        ]
        if errors:
            more = f"\n… and {len(errors) - 5} more" if len(errors) > 5 else ""  # noqa: PLR2004 - enough to see what is wrong
            listed = "\n".join(errors[:5])
            raise WidenFailed(f"{len(errors)} of {len(names)} shards failed:\n{listed}{more}")
        return {
            name: result
            for name, result in zip(names, results, strict=True)
            if not isinstance(result, BaseException)
        }


async def _abort_if_begun(widener: Widener) -> None:
    if await widener.status() is not None:
        await widener.abort()


async def _finish_if_begun(widener: Widener) -> None:
    if await widener.status() is not None:
        await widener.finish()


@asynccontextmanager
async def _kept_from_others(dsn: str, server: str, number: int) -> AsyncGenerator[None]:
    """Hold the lock that migrations and moves of the shard take, on a connection of its own."""
    conn = await open_connection(
        dsn, f"server {server}", server_settings={"application_name": "shardwright widen"}
    )
    try:
        if not await try_advisory_lock(conn, LOCK_CLASS, number):
            raise WidenRefused("a migration or a move works on this shard: try again when it has ended")
        yield
    finally:
        conn.terminate()
