"""Reads that replicas may answer: `shards.read(consistency)`.

A replica is asked once, and only if it is known to have what the reader needs. Whatever goes wrong there, the primary
answers instead: replicas may be down, far behind, or without a table that was just created.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from shardwright.errors import InvalidId, SetupInvalid
from shardwright.routing.consistency import Consistency
from shardwright.routing.deadlines import seconds_left
from shardwright.routing.execute import FAILURES, attempt, execute_on_shard
from shardwright.routing.gathered import Gathered
from shardwright.routing.queries import Query
from shardwright.routing.replica import Replica, log_failure
from shardwright.routing.scatter_gather import Everywhere, GatherRouter, gather, gather_on, gather_together
from shardwright.routing.schema_mismatch import ServerAnswer
from shardwright.routing.server_client import ServerClient
from shardwright.routing.sessions import SESSION, Session

if TYPE_CHECKING:
    from asyncpg import Record

    from shardwright.routing.scatter_gather import Router

Rows = "list[Record]"


class ReadRouter(GatherRouter, Protocol):
    """The part of `Shards` that reading needs."""

    async def refresh_to(self, version: int) -> bool:
        """Load the map again if it is older than this version; whether it is at least that now."""
        ...


class Reader:
    """The reading half of a router, at one consistency."""

    __slots__ = ("_consistency", "_router")

    def __init__(self, router: ReadRouter, consistency: Consistency) -> None:
        if consistency.level == "session" and consistency.session is None and SESSION.get() is None:
            raise SetupInvalid(
                "a session's read needs its session: read inside `with session:`, or pass it to session()"
            )
        self._router = router
        self._consistency = consistency

    def owner(self, id: int) -> "ReadShard":  # noqa: A002  # an id is called an id
        """The shard that an id belongs to."""
        return self.shard(self._router.shard_of(id))

    def of(self, key: str | bytes) -> "ReadShard":
        """The shard of a lookup key, by hash."""
        return self.shard(self._router.map.lookup_shard(key))

    def shard(self, number: int) -> "ReadShard":
        """A shard by its number."""
        return ReadShard(self, number)

    async def gather(
        self, query: Query, ids: Sequence[int], /, *, deadline_s: float | None = None, **params: Any
    ) -> Gathered:
        """Scatter-gather: the rows of many ids, one round trip per server, on replicas where they may answer."""
        with self.scope():
            return await gather(self._router, query, ids, params, deadline_s, self._gather_on)

    def everywhere(self, *, deadline_s: float | None = None) -> "ReadEverywhere":
        """Read every shard, on purpose; counted in the metrics."""
        return ReadEverywhere(self, self._router, deadline_s=deadline_s)

    async def read_shard(
        self, number: int, query: Query, args: tuple[Any, ...], limit: int, deadline_s: float | None
    ) -> "list[Record]":
        """The rows of a query on a shard; `limit` is 1 for at most one row, 0 for all."""
        if query.writes:
            raise SetupInvalid(f"{query.name} writes: use the router itself, as in shards.owner(id)")
        started_at = monotonic()
        limit_s = seconds_left(deadline_s)
        with self.scope():
            try:
                server = self._router.server_for(number)
            except InvalidId:
                rows = None  # a new shard, perhaps: the primary's way loads the map
            else:
                rows = await self.on_replica(
                    server, (number,), lambda client: attempt(client, number, query, args, limit), limit_s
                )
            if rows is None:
                left_s = None if limit_s is None else limit_s - (monotonic() - started_at)
                rows = await execute_on_shard(self._router, number, query, args, limit, left_s)
        return rows

    async def on_replica(
        self,
        server: ServerClient,
        numbers: Collection[int],
        work: "Callable[[ServerClient], Awaitable[list[Record]]]",
        limit_s: float | None = None,
    ) -> "list[Record] | None":
        """The rows that a replica of the server returned; None when the primary must be asked.

        Of a limit, at most half is spent here: the primary needs the rest if the replica does not answer.
        """
        if server.replicas is None or self._consistency.level == "strong":
            return None
        if limit_s is None:
            return await self._on_replica(server, numbers, work)
        try:
            async with asyncio.timeout(max(0.0, limit_s / 2)):
                return await self._on_replica(server, numbers, work)
        except TimeoutError:
            return None

    async def _on_replica(
        self,
        server: ServerClient,
        numbers: Collection[int],
        work: "Callable[[ServerClient], Awaitable[list[Record]]]",
    ) -> "list[Record] | None":
        replicas = server.replicas
        replica = await self._choose(server, numbers)
        if replicas is None or replica is None:
            return self._fall_back(server)
        incarnation = replica.incarnation
        try:
            rows = await work(replica.client)
        except FAILURES as error:
            log_failure(replica, error)
            return self._fall_back(server)
        if replica.incarnation != incarnation:  # a connection was opened after a crash: it may have gone back
            return self._fall_back(server)
        replicas.reads += 1
        session = SESSION.get()
        if session is not None:
            session.note_replica(replica, replicas)
        return rows

    def _fall_back(self, server: ServerClient) -> None:
        if server.replicas is not None:
            server.replicas.fallbacks += 1

    async def _choose(self, server: ServerClient, numbers: Collection[int]) -> Replica | None:
        """A replica that may answer a read of these shards; None: the primary must."""
        replicas, consistency = server.replicas, self._consistency
        if replicas is None or not replicas.unowned.isdisjoint(numbers):
            return None
        if consistency.level == "bounded":
            return await replicas.choose(since=monotonic() - consistency.lag_s)
        session = SESSION.get()
        if consistency.level == "any" or session is None:
            return await replicas.choose()
        if session.map_version > self._router.map.version:
            # Somebody with a newer map served it: a shard may have moved since.
            if not await self._router.refresh_to(session.map_version):
                return None
            if self._router.server_for(next(iter(numbers))) is not server:
                return None
        may_answer, position, only = await session.needs(server.server.name, replicas)
        return await replicas.choose(position, only=only) if may_answer else None

    def scope(self) -> "contextlib.AbstractContextManager[Session | None]":
        """Let the session that was passed, if any, note what is read."""
        return self._consistency.session or contextlib.nullcontext()

    async def _gather_on(
        self,
        router: "Router",
        server: ServerClient,
        query: Query,
        by_shard: dict[int, list[int]],
        others: dict[str, Any],
    ) -> ServerAnswer:
        if not server.fit.misfits_among(query, by_shard):
            rows = await self.on_replica(
                server, by_shard, lambda client: gather_together(client, query, by_shard, others)
            )
            if rows is not None:
                part = ServerAnswer(server.server.name)
                part.add(rows)
                return part
        return await gather_on(router, server, query, by_shard, others)


class ReadShard:
    """One shard, for reading."""

    __slots__ = ("_reader", "number")

    def __init__(self, reader: Reader, number: int) -> None:
        self._reader = reader
        self.number = number

    async def fetch(self, query: Query, /, *, deadline_s: Any = None, **params: Any) -> "list[Record]":
        """All rows."""
        return await self._reader.read_shard(self.number, query, query.bind(params), 0, deadline_s)

    async def fetch_one(self, query: Query, /, *, deadline_s: Any = None, **params: Any) -> "Record | None":
        """The first row, if there is one."""
        rows = await self._reader.read_shard(self.number, query, query.bind(params), 1, deadline_s)
        return rows[0] if rows else None

    async def fetch_value(self, query: Query, /, *, deadline_s: Any = None, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.fetch_one(query, deadline_s=deadline_s, **params)
        return None if row is None else row[0]

    def __repr__(self) -> str:
        return f"ReadShard({self.number})"


class ReadEverywhere(Everywhere):
    """Reads every shard, on replicas where they may answer."""

    def __init__(self, reader: Reader, router: ReadRouter, *, deadline_s: float | None) -> None:
        super().__init__(router, deadline_s=deadline_s)
        self._reader = reader

    async def fetch(self, query: Query, /, **params: Any) -> Gathered:
        """Return the rows of all shards, each with its `shard_number`."""
        with self._reader.scope():
            return await super().fetch(query, **params)

    async def execute(self, query: Query, /, **params: Any) -> Gathered:  # noqa: ARG002 - as its base class
        """Refuse: this is a reader."""
        raise SetupInvalid(f"{query.name} is executed everywhere by shards.everywhere(), not by a reader")

    async def _read_batch(
        self,
        server: ServerClient,
        batch: list[int],
        query: Query,
        args: tuple[Any, ...],
        *,
        is_plain: bool = False,
    ) -> "list[Record]":
        if not is_plain:
            read = super()._read_batch
            rows = await self._reader.on_replica(
                server, batch, lambda client: read(client, batch, query, args)
            )
            if rows is not None:
                return rows
        return await super()._read_batch(server, batch, query, args, is_plain=is_plain)
