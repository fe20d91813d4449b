"""Reading many shards at once: servers in parallel, one round trip each, and what came back of it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

import asyncpg

from shardwright.errors import NotOwner, ServerUnavailable, ShardKeyMissing
from shardwright.running.calling import MISSING, OUTDATED, Routes, call
from shardwright.running.dispatch import IDS, Form
from shardwright.running.errors import DeadlineExceeded, PartialResult
from shardwright.running.pools import Pool
from shardwright.running.queries import Query
from shardwright.running.servers import EVERYWHERE, LOST, ServerRouter

if TYPE_CHECKING:
    from asyncpg import Record

# Shards one statement reads in turn when all are asked: enough to save round trips, few enough to interleave.
EVERYWHERE_BATCH = 32
# A server that cannot be had, for whatever reason; anything else is the statement's own fault.
AWAY = (
    *LOST,
    ServerUnavailable,
    NotOwner,
    TimeoutError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)


@dataclass
class Gathered:
    """Rows of many shards, in no particular order, and the servers that did not answer in time."""

    rows: "list[Record]" = field(default_factory=list["Record"])
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])

    @property
    def is_complete(self) -> bool:
        """Whether every server answered."""
        return not self.failed

    def complete(self) -> "list[Record]":
        """The rows, or `PartialResult` when some are missing."""
        if self.failed:
            raise PartialResult(f"no answer from {', '.join(sorted(self.failed))}") from next(
                iter(self.failed.values())
            )
        return self.rows

    def __iter__(self) -> "Iterator[Record]":
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


class GatherRoutes(Routes, Protocol):
    """What reading many shards needs of the router."""

    gather_deadline_s: float
    everywhere_count: int

    def shard_of(self, id: int) -> int:  # noqa: A002  # an id is called an id
        """The number of the shard that an id names."""
        ...


async def gather(
    routes: GatherRoutes,
    query: Query,
    ids: Sequence[int],
    params: Mapping[str, Any],
    deadline_s: float | None,
) -> Gathered:
    """The rows of ids wherever they live."""
    others = dict(params)
    parts = _by_server(routes, ids)
    work = [partial(_gather_on, routes, server, query, by_shard, others) for server, by_shard in parts]
    deadline = routes.gather_deadline_s if deadline_s is None else deadline_s
    return await _collect([server.server.name for server, _ in parts], work, deadline)


def _by_server(routes: GatherRoutes, ids: Sequence[int]) -> list[tuple[ServerRouter, dict[int, list[int]]]]:
    """Ids grouped by shard, shards by server (and, on a server with very many, by connection)."""
    shards: dict[int, list[int]] = {}
    for id_ in ids:
        shards.setdefault(routes.shard_of(id_), []).append(id_)
    parts: dict[tuple[int, int], tuple[ServerRouter, dict[int, list[int]]]] = {}
    for number, own in shards.items():
        server = routes.server_for(number)
        lane = server.gathers.lanes.of(number)
        parts.setdefault((id(server), id(lane)), (server, {}))[1][number] = own
    return list(parts.values())


async def _gather_on(
    routes: Routes, server: ServerRouter, query: Query, by_shard: dict[int, list[int]], others: dict[str, Any]
) -> "list[Record]":
    ends: list[int] = []
    ids: list[int] = []
    for own in by_shard.values():
        ids += own
        ends.append(len(ids))
    args = (list(by_shard), ends, *query.bind({**others, IDS: ids}))
    try:
        return await _run_on(server, server.gathers, by_shard, (query, Form.GATHER), args)
    except (*LOST, *MISSING, *OUTDATED) as error:
        if isinstance(error, OUTDATED):
            server.forget([query])
        # One shard at a time, each following its owner: a shard may have moved since the map was loaded.
        rows: list[Record] = []
        for number, own in by_shard.items():
            rows += await call(routes, number, query, query.bind({**others, IDS: own}), 0)
        return rows


async def _run_on(
    server: ServerRouter,
    pool: Pool,
    numbers: Iterable[int],
    what: tuple[Query, str],
    args: tuple[Any, ...],
) -> "list[Record]":
    shards = list(numbers)
    link = pool.take(shards[0])
    if link is None or link.is_dirty:
        link = await server.finish_borrowing(pool, link, shards[0])
    link.touched.update(shards)
    try:
        statement = link.statements.get(what) or await server.prepare(link, *what)
        rows = cast("list[Record]", await statement.fetch(*args))
    except BaseException as error:
        server.settle(pool, link, error)
        raise
    pool.give(link)
    server.counts.calls += 1
    server.counts.rows += len(rows)
    return rows


async def _collect(
    names: list[str], work: "Sequence[Callable[[], Awaitable[list[Record]]]]", deadline_s: float
) -> Gathered:
    """Wait for all, each to its deadline; servers that cannot be had are told, not raised."""
    if len(work) == 1:
        outcomes = [await _within(work[0], deadline_s)]
    else:
        outcomes = await asyncio.gather(*(_within(each, deadline_s) for each in work))
    gathered = Gathered()
    for name, outcome in zip(names, outcomes, strict=True):
        if isinstance(outcome, AWAY):
            gathered.failed[name] = outcome
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            gathered.rows += outcome
    return gathered


async def _within(
    work: "Callable[[], Awaitable[list[Record]]]", deadline_s: float
) -> "list[Record] | Exception":
    """The rows, or what went wrong: a sibling's failure must not leave this one running unwatched.

    Work is begun here, not before: who is cancelled at once would leave it neither run nor closed.
    """
    try:
        async with asyncio.timeout(deadline_s):
            return await work()
    except TimeoutError as error:
        return DeadlineExceeded(f"no answer within {deadline_s} s: {error}")
    except Exception as error:  # noqa: BLE001  # _collect raises what is not about the server being away
        return error


class Everywhere:
    """Every shard, on purpose: for reports and repairs, never for a request. Counted in the metrics."""

    def __init__(self, routes: GatherRoutes, *, deadline_s: float | None) -> None:
        self._routes = routes
        self._deadline_s = deadline_s

    async def fetch(self, query: Query, /, **params: Any) -> Gathered:
        """All rows of all shards, each with its `shard_number`; nothing is changed by it."""
        if query.writes:
            raise ShardKeyMissing(f"{query.name} writes: use execute, which runs shard by shard")
        self._routes.everywhere_count += 1
        args = query.bind(params)
        parts = self._parts()
        work = [partial(self._read, server, batches, query, args) for server, batches in parts]
        return await _collect([server.server.name for server, _ in parts], work, self._deadline_s or 3600.0)

    async def execute(self, query: Query, /, **params: Any) -> Gathered:
        """The statement ran on every shard, each in its own transaction; the rows are those it returned."""
        self._routes.everywhere_count += 1
        args = query.bind(params)
        parts = self._parts()
        work = [partial(self._write, batches, query, args) for _, batches in parts]
        return await _collect([server.server.name for server, _ in parts], work, self._deadline_s or 3600.0)

    def _parts(self) -> list[tuple[ServerRouter, list[list[int]]]]:
        """Per server, batches of shards that share a connection."""
        lanes: dict[ServerRouter, dict[int, list[int]]] = {}
        for number in sorted(self._routes.map.owners):
            server = self._routes.server_for(number)
            lane = server.points.lanes.of(number)
            lanes.setdefault(server, {}).setdefault(id(lane), []).append(number)
        return [
            (server, [_ for own in by_lane.values() for _ in _batches(own)])
            for server, by_lane in lanes.items()
        ]

    async def _read(
        self, server: ServerRouter, batches: list[list[int]], query: Query, args: tuple[Any, ...]
    ) -> "list[Record]":
        rows: list[Record] = []
        for batch in batches:
            try:
                rows += await self._read_batch(server, batch, query, args)
            except (*LOST, *MISSING, *OUTDATED) as error:
                if isinstance(error, OUTDATED):
                    server.forget([query])
                with contextlib.suppress(ServerUnavailable):  # the map at hand may still do
                    await self._routes.refresh()
                for number in batch:
                    rows += await self._read_batch(self._routes.server_for(number), [number], query, args)
        return rows

    async def _read_batch(
        self, server: ServerRouter, batch: list[int], query: Query, args: tuple[Any, ...]
    ) -> "list[Record]":
        return await _run_on(server, server.points, batch, (query, EVERYWHERE), (batch, *args))

    async def _write(self, batches: list[list[int]], query: Query, args: tuple[Any, ...]) -> "list[Record]":
        rows: list[Record] = []
        for batch in batches:
            for number in batch:
                rows += await call(self._routes, number, query, args, 0)
        return rows


def _batches(numbers: list[int]) -> list[list[int]]:
    return [numbers[start : start + EVERYWHERE_BATCH] for start in range(0, len(numbers), EVERYWHERE_BATCH)]
