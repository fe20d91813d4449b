"""The router: finds the shard of an id or key and sends statements to the server that owns it."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn, Self

from prometheus_client import CollectorRegistry

from shardwright.errors import InvalidId, ServerUnavailable, ShardKeyMissing
from shardwright.ids import LEGACY_LIMIT, MAX_ID
from shardwright.routing.connection_pool import ConnectionPool
from shardwright.routing.consistency import STRONG, Consistency
from shardwright.routing.deadlines import Deadline, seconds_left
from shardwright.routing.dispatch_functions import FunctionKey, FunctionKind
from shardwright.routing.gathered import Gathered
from shardwright.routing.map_refresher import MapRefresher
from shardwright.routing.metrics import RouterCollector, ServerCounts
from shardwright.routing.options import MAINTAIN_S, PoolOptions
from shardwright.routing.queries import Queries, Query
from shardwright.routing.reader import Reader
from shardwright.routing.replica_set import ReplicaSet
from shardwright.routing.scatter_gather import Everywhere, gather
from shardwright.routing.server_client import ServerClient
from shardwright.routing.shard import Shard
from shardwright.topology import Directory, MapFile, Placer, Server, ShardMap

log = logging.getLogger(__name__)

DEFAULT_OPTIONS = PoolOptions()


class Shards:
    """All shards, through one process's connections; open one with `Shards.open`."""

    def __init__(self, directory: Directory, options: PoolOptions, queries: Sequence[Queries]) -> None:
        self._directory = directory
        self._queries = [query for each in queries for query in each]
        self._servers: dict[str, ServerClient] = {}
        self._routes: dict[int, ServerClient] = {}
        self._shards: dict[int, Shard] = {}
        self._refresher = MapRefresher(self._load, unknown_interval_s=options.unknown_shard_refresh_s)
        self._background: list[asyncio.Task[None]] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._registry: CollectorRegistry | None = None
        self._collector = RouterCollector(self)
        self._map_changed = asyncio.Event()
        self.map: ShardMap
        self.options = options
        self.timer_s = options.timer_s
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
        map_file: Path | None = None,
    ) -> Self:
        """Open a router that loads the shard map and follows its changes.

        `queries` get their dispatch functions on every server that answers; others get theirs at first use. `dsns`
        overrides the map's server addresses, by server name; user and password of its entry `*` are for the others.
        `registry` exposes this router's metrics. `map_file` keeps the last map: with it the router opens while the
        directory is away, and learns of a newer map when it is back.
        """
        kept = None if map_file is None else MapFile(map_file, directory_dsn)
        directory = Directory(directory_dsn, dsns or {}, kept)
        shards = cls(directory, options, queries)
        try:
            await shards._start(registry)
        except BaseException:
            await shards.close()
            raise
        return shards

    async def close(self) -> None:
        """Stop background tasks, close all connections and unregister the metrics."""
        if self._registry is not None:
            self._registry.unregister(self._collector)
            self._registry = None
        tasks = [*self._background, *self._closing]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._refresher.close()
        await self._directory.close()
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def owner(self, id: int) -> Shard:  # noqa: A002  # an id is called an id
        """The shard that an id belongs to.

        The shard need not be in this router's map: it may be new, so the first statement sent to it loads the map
        again, and raises `InvalidId` if there is no such shard.
        """
        return self.shard(self.shard_of(id))

    def of(self, key: str | bytes) -> Shard:
        """The shard of a lookup key (a username, an email address), by hash; it never changes."""
        return self.shard(self.map.lookup_shard(key))

    def place(self) -> Shard:
        """Choose a shard for a new tenant, in proportion to the weights of servers and shards."""
        return self.shard(self._placer.place())

    def shard(self, number: int) -> Shard:
        """A shard by its number; whether it exists is found out by the first statement, see `owner`."""
        shard = self._shards.get(number)
        if shard is None:
            shard = self._shards[number] = Shard(self, number)  # refuses numbers that no shard can have
        return shard

    def shard_of(self, id: int) -> int:  # noqa: A002  # an id is called an id
        """The number of the shard that an id belongs to."""
        if LEGACY_LIMIT <= id <= MAX_ID:
            return id >> 10 & 8191
        return self.map.layout.id_shard(id)

    async def gather(
        self, query: Query, ids: Sequence[int], /, *, deadline_s: float | None = None, **params: Any
    ) -> Gathered:
        """Scatter-gather: the rows of many ids, one round trip per server, servers in parallel.

        The query takes `:ids`. A server that fails or is late is reported in `failed`, with the other servers' rows;
        what is no id of any shard, in `unknown`.
        """
        return await gather(self, query, ids, params, deadline_s)

    def everywhere(self, *, deadline_s: float | None = None) -> Everywhere:
        """Broadcast to every shard, on purpose; counted in the metrics."""
        return Everywhere(self, deadline_s=deadline_s)

    def read(self, consistency: Consistency = STRONG) -> Reader:
        """The reading half of this router, at a consistency of the caller's choice: replicas may then answer."""
        return Reader(self, consistency)

    async def ping(self, server: str) -> None:
        """Raise unless a server answers, within the deadline; for health checks."""
        limit_s = seconds_left(None)
        deadline = Deadline(self.options.deadline_s if limit_s is None else limit_s)
        await deadline.run(lambda: self._servers[server].ping(deadline), f"ping of server {server}")

    def primary_address(self, server: str) -> str:
        """The address of a server's primary, as far as this process knows: another one after a fail-over.

        For connections of the caller's own. Ask again every few seconds: that makes the router look whether the primary
        is still there, in the background, also while nobody sends statements to it.
        """
        primary = self._servers[server].primary
        if primary.is_unconfirmed(monotonic()):
            primary.confirm_later()
        return primary.dsn

    async def refresh(self) -> None:
        """Load the latest map; concurrent callers share one load."""
        await self._refresher.refresh()

    async def refresh_to(self, version: int) -> bool:
        """Load the map again if it is older than this version; whether it is at least that now.

        At most once per `unknown_shard_refresh_s`: versions that somebody made up cannot keep the directory busy.
        """
        with contextlib.suppress(ServerUnavailable):  # the directory: the primary of the cached map answers
            await self._refresher.refresh_for_unknown(lambda: self.map.version >= version)
        return self.map.version >= version

    async def wait_for_map(self, timeout_s: float) -> None:
        """Return when a newer map has arrived, by notification for example, or after this time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._map_changed.wait()

    async def locate(self, number: int) -> ServerClient:
        """The client of the server that owns a shard, also of one that this router has not heard of yet.

        Loads the map again for a shard that it does not have, at most once per `unknown_shard_refresh_s`: ids that
        somebody made up cannot keep the directory busy. Raises `InvalidId` if the shard does not exist.
        """
        await self._refresher.refresh_for_unknown(lambda: number in self._routes)
        return self.server_for(number)

    async def load_unknown(self, ids: Sequence[int]) -> None:
        """Load the map again if one of these ids can belong to a shard that it does not have; as in `locate`."""
        numbers = {self.shard_of(each) for each in ids if LEGACY_LIMIT <= each <= MAX_ID}
        await self._refresher.refresh_for_unknown(lambda: numbers <= self._routes.keys())

    async def fetch(self, *_: Any, **__: Any) -> NoReturn:
        """Raise `ShardKeyMissing`: a statement needs a shard."""
        raise ShardKeyMissing("say which shard: owner(id), of(key), or everywhere() if you mean it")

    fetch_one = fetch_value = execute = fetch

    def server_for(self, number: int) -> ServerClient:
        """The client of the server that owns a shard."""
        try:
            return self._routes[number]
        except KeyError:
            raise InvalidId(f"shard {number} is not in the map (version {self.map.version})") from None

    @property
    def counts(self) -> dict[str, ServerCounts]:
        """Counters by server."""
        return {name: server.counts for name, server in self._servers.items()}

    def pools(self) -> Iterable[tuple[str, str, ConnectionPool]]:
        """Every connection pool, with its server's name and its purpose."""
        for name, server in self._servers.items():
            yield name, "point", server.point_pool
            yield name, "gather", server.gather_pool

    def replica_sets(self) -> Iterable[tuple[str, ReplicaSet]]:
        """The replicas of every server that has any."""
        return [(name, each.replicas) for name, each in self._servers.items() if each.replicas is not None]

    async def _start(self, registry: CollectorRegistry | None) -> None:
        self._apply_map(await self._directory.load_or_recall())
        # First of all: it terminates the connections of a server that hangs.
        self._background.append(asyncio.create_task(self._maintain(), name="shardwright-maintenance"))
        await self._install()
        self._directory.watch(self._apply_map, poll_s=self.options.poll_s)
        self._background.append(asyncio.create_task(self._refresh_functions(), name="shardwright-functions"))
        if registry is not None:
            registry.register(self._collector)
            self._registry = registry

    async def _load(self) -> None:
        self._apply_map(await self._directory.load())

    def _apply_map(self, latest: ShardMap) -> None:
        """Route by this map from now on; an older one that arrives late is ignored."""
        if self._routes and latest.version <= self.map.version:
            return
        self.map = latest
        self._placer = Placer(latest)
        has_replicas = any(server.replicas for server in latest.servers.values())
        for name, server in latest.servers.items():
            existing = self._servers.get(name)
            if existing is None or existing.server.dsn != server.dsn:
                self._servers[name] = ServerClient(server, self.options)
                if existing is not None:
                    self._close_replaced(existing)
            self._servers[name].assign_shards(latest.shards_on(name))
            self._servers[name].replicated_map_version = latest.version if has_replicas else 0
            self._assign_replicas(self._servers[name], server)
        for name in self._servers.keys() - latest.servers.keys():
            self._close_replaced(self._servers.pop(name))
        self._routes = {number: self._servers[name] for number, name in latest.owners.items()}
        changed, self._map_changed = self._map_changed, asyncio.Event()
        changed.set()

    def _assign_replicas(self, client: ServerClient, server: Server) -> None:
        """Let the client of a server know the replicas that the map names, if any."""
        client.server = server
        if client.replicas is None and not server.replicas:
            return
        client.primary.set_addresses(server)
        if not server.replicas and client.replicas is not None:
            self._finish(client.replicas.close())
            client.replicas = None
        else:
            if client.replicas is None:
                client.replicas = ReplicaSet(client, self.options, self.map.version, self._refresher.request)
            client.replicas.apply_map(self.map.version, client.functions.numbers)

    def _close_replaced(self, server: ServerClient) -> None:
        """Close the client of a server that was removed or whose address changed, once its statements have finished."""
        self._finish(server.close())

    def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _install(self) -> None:
        wanted = [FunctionKey(query, FunctionKind.POINT) for query in self._queries]
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

    async def _maintain(self) -> None:
        """Never waits for a server: it is what ends the waiting for one that hangs."""
        while True:
            await asyncio.sleep(MAINTAIN_S)
            clients = [
                *self._servers.values(),
                *(each.client for _, found in self.replica_sets() for each in found.all),
            ]
            for client in clients:
                client.watch.check()
                for pool in (client.point_pool, client.gather_pool):
                    pool.terminate_overdue()
                    pool.close_idle()

    async def _refresh_functions(self) -> None:
        while True:
            await asyncio.sleep(MAINTAIN_S)
            for server in list(self._servers.values()):
                try:
                    await server.install_wanted()
                    await server.refresh_functions()
                except Exception:  # nothing may stop this task
                    log.exception("functions.refresh_failed: on server %s", server.server.name)
