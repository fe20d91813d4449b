"""Scatter-gather: reads on many shards at once, servers in parallel, one round trip each, partial results allowed."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from shardwright.errors import InvalidId, ServerUnavailable, ShardKeyMissing
from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.deadlines import Deadline, seconds_left
from shardwright.routing.dispatch_functions import IDS, FunctionKind
from shardwright.routing.execute import FUNCTION_OUTDATED, NOT_OWNER_PAUSE_S, Router, execute_on_shard
from shardwright.routing.gathered import SERVER_UNAVAILABLE, Gathered, collect, merge
from shardwright.routing.moved_shards import MAY_HAVE_MOVED, is_elsewhere
from shardwright.routing.plain_statements import EVERYWHERE
from shardwright.routing.queries import Query
from shardwright.routing.schema_mismatch import (
    SCHEMA_MISFIT,
    ServerAnswer,
    schema_mismatch,
)
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient
from shardwright.routing.sessions import note_primary

if TYPE_CHECKING:
    from asyncpg import Record

# Shards that one statement reads in turn in a broadcast: enough to save round trips, few enough to interleave.
EVERYWHERE_BATCH = 32
BROADCAST_DEADLINE_S = 3600.0
# A server, and ids on it by shard.
Part = tuple[ServerClient, dict[int, list[int]]]
# Gathers on one server.
GatherOn = Callable[
    [Router, ServerClient, Query, dict[int, list[int]], dict[str, Any]], Awaitable[ServerAnswer]
]
# Repeated shard by shard: one of them may have moved since the map was loaded, or have other columns than the rest.
_ONE_BY_ONE = (*CONNECTION_LOST, *MAY_HAVE_MOVED, *SCHEMA_MISFIT, *FUNCTION_OUTDATED)


class GatherRouter(Router, Protocol):
    """The part of `Shards` that scatter-gather needs."""

    everywhere_count: int

    def shard_of(self, id: int) -> int:  # noqa: A002  # an id is called an id
        """The number of the shard in an id."""
        ...

    async def load_unknown(self, ids: Sequence[int]) -> None:
        """Load the map again if one of these ids can belong to a shard that it does not have."""
        ...


async def gather(  # noqa: PLR0917 - what the router passes on
    router: GatherRouter,
    query: Query,
    ids: Sequence[int],
    params: Mapping[str, Any],
    deadline_s: float | None,
    on_server: "GatherOn | None" = None,
) -> Gathered:
    """Return the rows of many ids: one round trip per server, servers in parallel, each asked by `on_server`."""
    deadline = Deadline(_limit_s(router.options.gather_deadline_s, deadline_s))
    others = dict(params)
    parts, unknown = _by_server(router, ids)
    if not unknown:
        return await _gather_parts(router, query, others, deadline, on_server or gather_on, parts)
    known = partial(_gather_parts, router, query, others, deadline, on_server or gather_on)
    return merge(
        await asyncio.gather(
            known(parts), _gather_unknown(router, known, unknown, deadline), return_exceptions=True
        )
    )


def _limit_s(default_s: float, deadline_s: float | None) -> float:
    left_s = seconds_left(deadline_s)
    return default_s if left_s is None else left_s


def _by_server(router: GatherRouter, ids: Sequence[int]) -> tuple[list[Part], list[int]]:
    """Group ids by shard, and shards by server (and, on a server with very many, by connection group).

    Returned apart: what belongs to no shard of the map, or is no id.
    """
    shards: dict[int, list[int]] = {}
    unknown: list[int] = []
    for id_ in ids:
        try:
            shards.setdefault(router.shard_of(id_), []).append(id_)
        except InvalidId:
            unknown.append(id_)
    parts: dict[tuple[int, int], Part] = {}
    for number, own in shards.items():
        try:
            server = router.server_for(number)
        except InvalidId:
            unknown += own
            continue
        group = server.gather_pool.groups.for_shard(number)
        parts.setdefault((id(server), id(group)), (server, {}))[1][number] = own
    return list(parts.values()), unknown


async def _gather_parts(  # noqa: PLR0917 - likewise
    router: GatherRouter,
    query: Query,
    others: dict[str, Any],
    deadline: Deadline,
    on_server: "GatherOn",
    parts: list[Part],
) -> Gathered:
    work = [partial(on_server, router, server, query, by_shard, others) for server, by_shard in parts]
    return await collect([server for server, _ in parts], work, deadline)


async def _gather_unknown(
    router: GatherRouter,
    known: Callable[[list[Part]], Awaitable[Gathered]],
    ids: list[int],
    deadline: Deadline,
) -> Gathered:
    """Look for ids of shards that the map did not have in a newer one; those of no shard are reported."""
    loading = Deadline(deadline.limit_s, deadline.started_at)
    loading.wait_for("the shard map")
    failed: dict[str, Exception] = {}
    try:
        await loading.run(partial(router.load_unknown, ids), "gather")
    except SERVER_UNAVAILABLE as error:
        failed["directory"] = error
    parts, unknown = _by_server(router, ids)
    gathered = await known(parts) if parts else Gathered()
    gathered.unknown += unknown
    gathered.failed |= failed
    return gathered


async def gather_on(
    router: Router, server: ServerClient, query: Query, by_shard: dict[int, list[int]], others: dict[str, Any]
) -> ServerAnswer:
    """The rows of ids on one server."""
    part = ServerAnswer(server.server.name)
    misfits = server.fit.misfits_among(query, by_shard)
    single = {number: by_shard[number] for number in misfits}
    together = (
        {number: own for number, own in by_shard.items() if number not in single} if misfits else by_shard
    )
    if together:
        try:
            part.add(await gather_together(server, query, together, others))
        except _ONE_BY_ONE as error:
            if isinstance(error, FUNCTION_OUTDATED):
                server.discard_statements([query])
            single = by_shard
    for number, own in single.items():
        with part.collect_mismatch():
            part.add(await execute_on_shard(router, number, query, query.bind({**others, IDS: own}), 0))
    return part


async def gather_together(
    server: ServerClient, query: Query, by_shard: dict[int, list[int]], others: dict[str, Any]
) -> "list[Record]":
    """The rows of ids on one server, in one statement."""
    ends: list[int] = []
    ids: list[int] = []
    for own in by_shard.values():
        ids += own
        ends.append(len(ids))
    args = (list(by_shard), ends, *query.bind({**others, IDS: ids}))
    return await _run_on(server, server.gather_pool, by_shard, (query, FunctionKind.GATHER), args)


async def _run_on(
    server: ServerClient,
    pool: ConnectionPool,
    numbers: Iterable[int],
    what: tuple[Query, str],
    args: tuple[Any, ...],
    *,
    is_plain: bool = False,
) -> "list[Record]":
    shards = list(numbers)
    pooled = pool.acquire_nowait(shards[0])
    if pooled is None or pooled.is_dirty:
        pooled = await server.finish_acquire(pool, pooled, shards[0])
    pooled.shards_touched.update(shards)
    try:
        if is_plain:
            statement = server.plain(pooled, *what)
        else:
            statement = pooled.statements.get(what) or await server.prepare(pooled, *what, shards[0])
        rows = await statement.fetch(*args)
    except BaseException as error:
        server.handle_failure(pool, pooled, error)
        raise
    pool.release(pooled)
    server.counts.calls += 1
    server.counts.rows += len(rows)
    note_primary(server)
    return rows


class Everywhere:
    """Broadcast to every shard: for reports and repairs, never for a request. Counted in the metrics."""

    def __init__(self, router: GatherRouter, *, deadline_s: float | None) -> None:
        self._router = router
        self._deadline_s = deadline_s

    async def fetch(self, query: Query, /, **params: Any) -> Gathered:
        """Return the rows of all shards, each with its `shard_number`; read-only."""
        if query.writes:
            raise ShardKeyMissing(f"{query.name} writes: use execute, which runs shard by shard")
        self._router.everywhere_count += 1
        args = query.bind(params)
        parts = self._parts()
        work = [partial(self._read, server, batches, query, args) for server, batches in parts]
        return await collect([server for server, _ in parts], work, self._deadline())

    async def execute(self, query: Query, /, **params: Any) -> Gathered:
        """Execute the statement on every shard, each in its own transaction; returns the rows it returned."""
        self._router.everywhere_count += 1
        args = query.bind(params)
        parts = self._parts()
        work = [partial(self._write, server, batches, query, args) for server, batches in parts]
        return await collect([server for server, _ in parts], work, self._deadline(), writes=query.writes)

    def _deadline(self) -> Deadline:
        return Deadline(_limit_s(BROADCAST_DEADLINE_S, self._deadline_s))

    def _parts(self) -> list[tuple[ServerClient, list[list[int]]]]:
        """Per server, batches of shards that share a connection group."""
        groups: dict[ServerClient, dict[int, list[int]]] = {}
        for number in sorted(self._router.map.owners):
            server = self._router.server_for(number)
            group = server.point_pool.groups.for_shard(number)
            groups.setdefault(server, {}).setdefault(id(group), []).append(number)
        return [
            (server, [_ for own in by_group.values() for _ in _batches(own)])
            for server, by_group in groups.items()
        ]

    async def _read(
        self, server: ServerClient, batches: list[list[int]], query: Query, args: tuple[Any, ...]
    ) -> ServerAnswer:
        part = ServerAnswer(server.server.name)
        for batch in batches:
            single = server.fit.misfits_among(query, batch)
            together = [number for number in batch if number not in single]
            if together:
                try:
                    part.add(await self._read_batch(server, together, query, args))
                except _ONE_BY_ONE as error:
                    if isinstance(error, FUNCTION_OUTDATED):
                        server.discard_statements([query])
                    with contextlib.suppress(ServerUnavailable):  # the cached map may still be right
                        await self._router.refresh()
                    single = batch
            for number in single:
                with part.collect_mismatch():
                    part.add(await self._read_one(number, query, args))
        return part

    async def _read_one(self, number: int, query: Query, args: tuple[Any, ...]) -> "list[Record]":
        """Read one shard, wherever it has moved meanwhile."""
        ends_at = monotonic() + self._router.options.not_owner_wait_s
        while True:
            server = self._router.server_for(number)
            try:
                return await self._read_one_on(server, number, query, args)
            except MAY_HAVE_MOVED:
                if monotonic() > ends_at or not await is_elsewhere(self._router, server, number):
                    raise
            if self._router.server_for(number) is server:
                await self._router.wait_for_map(NOT_OWNER_PAUSE_S)

    async def _read_one_on(
        self, server: ServerClient, number: int, query: Query, args: tuple[Any, ...]
    ) -> "list[Record]":
        """Read one shard: by the function, or without it where it does not fit."""
        if not server.fit.is_misfit(query, number):
            try:
                return await self._read_batch(server, [number], query, args)
            except (*SCHEMA_MISFIT, *FUNCTION_OUTDATED):
                server.fit.mark_misfit(query, number)
        try:
            return await self._read_batch(server, [number], query, args, is_plain=True)
        except SCHEMA_MISFIT as error:
            version = await server.shard_version(number)
            raise schema_mismatch(error, query, server.server.name, number, version) from error

    async def _read_batch(
        self,
        server: ServerClient,
        batch: list[int],
        query: Query,
        args: tuple[Any, ...],
        *,
        is_plain: bool = False,
    ) -> "list[Record]":
        what = (query, EVERYWHERE)
        return await _run_on(server, server.point_pool, batch, what, (batch, *args), is_plain=is_plain)

    async def _write(
        self, server: ServerClient, batches: list[list[int]], query: Query, args: tuple[Any, ...]
    ) -> ServerAnswer:
        part = ServerAnswer(server.server.name)
        for number in (number for batch in batches for number in batch):
            with part.collect_mismatch():
                part.add(await execute_on_shard(self._router, number, query, args, 0))
        return part


def _batches(numbers: list[int]) -> list[list[int]]:
    return [numbers[start : start + EVERYWHERE_BATCH] for start in range(0, len(numbers), EVERYWHERE_BATCH)]
