"""The router: from an id, a key or nothing to the right shard on the right server."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from prometheus_client import CollectorRegistry

from shardwright.errors import InvalidId, NotOwner, ServerUnavailable, ShardKeyMissing
from shardwright.ids import LEGACY_LIMIT, schema_name
from shardwright.running.calling import call, count_of, rows_of
from shardwright.running.dispatch import Form, Wanted
from shardwright.running.gathering import Everywhere, Gathered, gather
from shardwright.running.metrics import RouterCollector, ServerCounts
from shardwright.running.options import PoolOptions
from shardwright.running.pools import Pool
from shardwright.running.queries import Queries, Query
from shardwright.running.servers import ServerRouter
from shardwright.running.transactions import Begin, Isolation, Transaction
from shardwright.topology import Directory, Placer, ShardMap

if TYPE_CHECKING:
    from asyncpg import Record

log = logging.getLogger(__name__)

T = TypeVar("T")
TIDY_S = 1.0
DEFAULT_OPTIONS = PoolOptions()


class Shard:
    """One shard, wherever it lives at the moment."""

    __slots__ = ("_shards", "number", "schema")

    def __init__(self, shards: "Shards", number: int) -> None:
        self._shards = shards
        self.number = number
        self.schema = schema_name(number)

    @property
    def server(self) -> str:
        """The name of the server that owns it, as far as this router knows."""
        return self._shards.server_for(self.number).server.name

    async def fetch(self, query: Query, /, **params: Any) -> "list[Record]":
        """All rows."""
        return rows_of(await call(self._shards, self.number, query, query.bind(params), 0), query)

    async def fetch_one(self, query: Query, /, **params: Any) -> "Record | None":
        """The first row, if there is one."""
        rows = rows_of(await call(self._shards, self.number, query, query.bind(params), 1), query)
        return rows[0] if rows else None

    async def fetch_value(self, query: Query, /, **params: Any) -> Any:
        """The first column of the first row, or None."""
        rows = rows_of(await call(self._shards, self.number, query, query.bind(params), 1), query)
        return rows[0][0] if rows else None

    async def execute(self, query: Query, /, **params: Any) -> int:
        """The statement ran, in a transaction of its own; returns how many rows it changed or returned."""
        return count_of(await call(self._shards, self.number, query, query.bind(params), 0))

    def begin(self, *, isolation: Isolation | None = None, read_only: bool = False) -> Begin:
        """A transaction on this shard: `async with shard.begin() as transaction`."""
        return Begin(self._shards, self.number, isolation, read_only=read_only)

    async def transact(self, body: Callable[[Transaction], Awaitable[T]]) -> T:
        """What `body` returns, in a transaction; begun again, as a whole, while the shard is moving."""
        deadline = asyncio.get_running_loop().time() + self._shards.refusal_wait_s
        while True:
            try:
                async with self.begin() as transaction:
                    return await body(transaction)
            except NotOwner:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(0.02)

    def __repr__(self) -> str:
        return f"Shard({self.number})"


class Shards:
    """All shards, through one process's connections; open one with `Shards.open`."""

    def __init__(self, directory: Directory, options: PoolOptions, queries: Sequence[Queries]) -> None:
        self._directory = directory
        self._options = options
        self._queries = [query for each in queries for query in each]
        self._servers: dict[str, ServerRouter] = {}
        self._routes: dict[int, ServerRouter] = {}
        self._shards: dict[int, Shard] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._background: list[asyncio.Task[None]] = []
        self._leaving: set[asyncio.Task[None]] = set()
        self._registry: CollectorRegistry | None = None
        self._collector = RouterCollector(self)
        self.map: ShardMap
        self.refusal_wait_s = options.refusal_wait_s
        self.gather_deadline_s = options.gather_deadline_s
        self.everywhere_count = 0

    @classmethod
    async def open(
        cls,
        directory_dsn: str,
        *,
        queries: Sequence[Queries] = (),
        options: PoolOptions = DEFAULT_OPTIONS,
        dsns: Mapping[str, str] | None = None,
        registry: CollectorRegistry | None = None,
    ) -> Self:
        """A router that knows the map and follows its changes.

        `queries` get their functions on every server that answers; others get theirs at first use. `dsns`
        reaches servers by other addresses than the map's, by name. `registry` shows this router's numbers.
        """
        directory = await Directory.open(directory_dsn, dsns=dsns or {})
        shards = cls(directory, options, queries)
        try:
            await shards._start(registry)
        except BaseException:
            await shards.close()
            raise
        return shards

    async def close(self) -> None:
        """Nothing of this router is left: tasks, connections, metrics."""
        if self._registry is not None:
            self._registry.unregister(self._collector)
            self._registry = None
        tasks = [*self._background, *self._leaving, *([self._refreshing] if self._refreshing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._directory.close()
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def owner(self, id: int) -> Shard:  # noqa: A002  # an id is called an id
        """The shard that an id names."""
        return self.shard(self.shard_of(id))

    def of(self, key: str | bytes) -> Shard:
        """The shard that holds a lookup key (a user name, an address), the same for ever."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> Shard:
        """A shard for a new tenant, in proportion to the weights of servers and shards."""
        return self.shard(self._placer.place())

    def shard(self, number: int) -> Shard:
        """A shard by its number."""
        shard = self._shards.get(number)
        if shard is None:
            self.map.server_of(number)  # refuses numbers that are not in the map
            shard = self._shards[number] = Shard(self, number)
        return shard

    def shard_of(self, id: int) -> int:  # noqa: A002  # an id is called an id
        """The number of the shard that an id names."""
        if id < LEGACY_LIMIT:
            return self.map.layout.id_shard(id)
        return id >> 10 & 8191

    async def gather(
        self, query: Query, ids: Sequence[int], /, *, deadline_s: float | None = None, **params: Any
    ) -> Gathered:
        """Rows of many ids wherever they live: one round trip per server, servers in parallel.

        The query takes `:ids`. A server that fails or is late is told in `failed`; the others' rows are there.
        """
        return await gather(self, query, ids, params, deadline_s)

    def everywhere(self, *, deadline_s: float | None = None) -> Everywhere:
        """Every shard, on purpose; counted in the metrics."""
        return Everywhere(self, deadline_s=deadline_s)

    async def ping(self, server: str) -> None:
        """A server answers, for health checks; raises when it does not."""
        await self._servers[server].ping()

    async def refresh(self) -> None:
        """The map is the latest; many who ask at once share one answer."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._load())
        await asyncio.shield(self._refreshing)

    async def fetch(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: say which shard."""
        raise ShardKeyMissing("say which shard: owner(id), of(key), or everywhere() if you mean it")

    fetch_one = fetch_value = execute = fetch

    def server_for(self, number: int) -> ServerRouter:
        """Where a shard's statements go."""
        try:
            return self._routes[number]
        except KeyError:
            raise InvalidId(f"shard {number} is not in the map (version {self.map.version})") from None

    @property
    def counts(self) -> dict[str, ServerCounts]:
        """What happened on each server."""
        return {name: server.counts for name, server in self._servers.items()}

    def pools(self) -> Iterable[tuple[str, str, Pool]]:
        """Every pool, with its server's name and its purpose."""
        for name, server in self._servers.items():
            yield name, "point", server.points
            yield name, "gather", server.gathers

    async def _start(self, registry: CollectorRegistry | None) -> None:
        await self._load()
        await self._install()
        self._directory.watch(self._adopt, poll_s=self._options.poll_s)
        self._background.append(asyncio.create_task(self._tidy(), name="shardwright-tidy"))
        if registry is not None:
            registry.register(self._collector)
            self._registry = registry

    async def _load(self) -> None:
        self._adopt(await self._directory.load())

    def _adopt(self, latest: ShardMap) -> None:
        """Route by this map from now on; an older one that arrives late changes nothing."""
        if self._routes and latest.version <= self.map.version:
            return
        self.map = latest
        self._placer = Placer(latest)
        for name, server in latest.servers.items():
            known = self._servers.get(name)
            if known is None or known.server.dsn != server.dsn:
                self._servers[name] = ServerRouter(server, self._options)
                if known is not None:
                    self._leave(known)
            self._servers[name].deal(latest.shards_on(name))
        self._routes = {number: self._servers[name] for number, name in latest.owners.items()}

    def _leave(self, server: ServerRouter) -> None:
        """A server has a new address: let what runs on the old one end."""
        task = asyncio.create_task(server.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _install(self) -> None:
        wanted = [Wanted(query, Form.POINT) for query in self._queries]
        servers = list(self._servers.values())
        for server, outcome in zip(
            servers,
            await asyncio.gather(*(server.install(wanted) for server in servers), return_exceptions=True),
            strict=True,
        ):
            if isinstance(outcome, ServerUnavailable):
                log.warning("server.skipped: %s: %s", server.server.name, outcome)
            elif outcome is not None:
                raise outcome

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_S)
            for _, _, pool in self.pools():
                pool.end_overdue()
                pool.tidy()
            for server in list(self._servers.values()):
                try:
                    await server.keep_functions()
                except Exception:  # nothing may end this task: it also watches over hung servers
                    log.exception("functions.unkept: on server %s", server.server.name)
