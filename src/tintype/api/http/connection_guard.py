"""Ends connections that stall, so that nobody holds so many of them that others find no room.

The web server closes connections whose request head does not arrive, and `request_bodies.py` answers bodies that do not
arrive. The rest is done here, by looking once a second at the sockets of this process: who reads too slowly, which
address has more connections than it may, and whether there are too many in all. Where there are too many, those end
first that have waited longest for their client; a request that is being answered is not cut. An address that opens two
thousand connections thereby keeps the newest of them, and its neighbours theirs.

Behind a proxy every connection is the proxy's. There, requests in progress are counted by the address that it forwards.
"""

import asyncio
import contextlib
import ipaddress
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from prometheus_client import Counter as CounterMetric
from prometheus_client import Gauge

from tintype.api.http.client_info import is_proxy_configured, is_trusted_proxy, network_of
from tintype.api.http.sockets import ClientConnections, Connection, Peer, is_supported
from tintype.base.errors import RateLimited
from tintype.base.log import get_log
from tintype.base.settings import Settings

log = get_log("http")
ROUND_S = 1.0
SLICE = 50
"""After so many sockets others get their turn: looking at one, or ending it, costs some microseconds."""
SLOWEST_BYTES_PER_S = 1_024
RETRY_AFTER_S = 2

connections_open = Gauge(
    "tintype_connections", "Connections of clients that are open.", multiprocess_mode="livesum"
)
connections_cut = CounterMetric(
    "tintype_connections_cut_total",
    "Connections that were ended because they stalled, by reason.",
    ["reason"],
)


class TooManyAtOnce(RateLimited):
    """Too many requests from your address are in progress at once; let some of them finish first."""

    code = "too_many_at_once"


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be, and how long a client may take nothing of what is sent to it."""

    per_address: int
    in_all: int
    stall_s: float
    quiet_s: float
    """How long a connection may be open without anything happening on it; the server itself ends it earlier."""
    is_proxy: Callable[[str], bool] = lambda _address: False
    """Whether an address is that of a proxy, whose connections are everybody's."""


def connection_limits(settings: Settings) -> ConnectionLimits:
    """The limits that the settings say. Only where a proxy is configured, addresses of proxies have none."""
    has_proxy = is_proxy_configured(settings)
    return ConnectionLimits(
        per_address=settings.connections_per_address,
        in_all=settings.connections,
        stall_s=settings.http_stall_s,
        quiet_s=settings.http_idle_s + settings.http_stall_s,
        is_proxy=lambda host: has_proxy and is_trusted_proxy(host, settings),
    )


class ConnectionGuard:
    """Counts requests in progress, and ends connections that stall."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._connections = ClientConnections()
        self._readers = _SlowReaders(limits.stall_s)
        self._answering: set[Peer] = set()
        self._forwarded: Counter[str] = Counter()

    def begin_answer(self, peer: Peer) -> None:
        """The request of this connection has arrived as a whole: it is not cut while it is answered."""
        self._answering.add(peer)

    def end_answer(self, peer: Peer) -> None:
        """The request of this connection was answered."""
        self._answering.discard(peer)

    def enter(self, forwarded_for: str) -> None:
        """Count a request that a proxy forwards; refused where that address has too many in progress."""
        if self._forwarded[forwarded_for] >= self._limits.per_address:
            raise TooManyAtOnce(retry_after_s=RETRY_AFTER_S, network=forwarded_for)
        self._forwarded[forwarded_for] += 1

    def leave(self, forwarded_for: str) -> None:
        """A request that was counted is over."""
        self._forwarded[forwarded_for] -= 1
        if not self._forwarded[forwarded_for]:
            del self._forwarded[forwarded_for]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look after the connections of this process meanwhile; on systems that do not tell of them, do nothing."""
        task = asyncio.create_task(self._run() if is_supported() else asyncio.sleep(0))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(ROUND_S)
            await self.look()

    async def look(self) -> None:
        """One round: end what stalls, and what is too many."""
        found: list[Connection] = []
        for count, each in enumerate(self._connections.scan(), start=1):
            if each is not None:
                found.append(each)
            if count % SLICE == 0:
                await asyncio.sleep(0)
        connections_open.set(len(found))
        found = await _cut(found, self._readers.find(found), "slow_reader")
        found = await _cut(found, self._forgotten(found), "idle", spared=self._answering)
        found = await _cut(found, self._too_many_of_one_address(found), "address", spared=self._answering)
        too_many = self._longest_waiting(found, len(found) - self._limits.in_all)
        await _cut(found, too_many, "full", spared=self._answering)

    def _forgotten(self, found: list[Connection]) -> list[Connection]:
        """Connections that wait for their client although the server should have ended them."""
        quiet_ms = self._limits.quiet_s * 1_000
        return [
            each
            for each in found
            if each.quiet_ms > quiet_ms and not each.pending and each.peer not in self._answering
        ]

    def _too_many_of_one_address(self, found: list[Connection]) -> list[Connection]:
        by_address: defaultdict[str, list[Connection]] = defaultdict(list)
        for each in found:
            if not self._limits.is_proxy(each.peer[0]):
                by_address[network(each.peer[0])].append(each)
        return [
            each
            for group in by_address.values()
            for each in self._longest_waiting(group, len(group) - self._limits.per_address)
        ]

    def _longest_waiting(self, found: list[Connection], count: int) -> list[Connection]:
        """So many of the connections that wait for their client, those first that wait longest."""
        if count <= 0:
            return []
        waiting = [each for each in found if each.peer not in self._answering]
        return sorted(waiting, key=lambda each: each.quiet_ms, reverse=True)[:count]


class _SlowReaders:
    """Knows since when each client has had something to read, and how much it had read then."""

    def __init__(self, stall_s: float) -> None:
        self._stall_s = stall_s
        self._since: dict[int, tuple[float, int]] = {}

    def find(self, found: list[Connection]) -> list[Connection]:
        """The clients that have read less than a kilobyte a second for as long as the limit says."""
        now = time.monotonic()
        slow: list[Connection] = []
        since: dict[int, tuple[float, int]] = {}
        for each in found:
            if not each.pending:
                continue
            begin, read = self._since.get(each.inode, (now, each.acknowledged_bytes))
            if now - begin >= self._stall_s:
                if each.acknowledged_bytes - read < SLOWEST_BYTES_PER_S * (now - begin):
                    slow.append(each)
                    continue
                begin, read = now, each.acknowledged_bytes
            since[each.inode] = begin, read
        self._since = since
        return slow


async def _cut(
    found: list[Connection], chosen: list[Connection], reason: str, *, spared: AbstractSet[Peer] = frozenset()
) -> list[Connection]:
    """End the chosen connections, but those that are spared when their turn comes; returns the others."""
    ended: list[Connection] = []
    for count, each in enumerate(chosen, start=1):
        if each.peer not in spared:
            each.cut()
            ended.append(each)
        if count % SLICE == 0:
            await asyncio.sleep(0)
    if not ended:
        return found
    connections_cut.labels(reason).inc(len(ended))
    log.warning("connections.cut", reason=reason, count=len(ended), network=network(ended[0].peer[0]))
    gone = {each.inode for each in ended}
    return [each for each in found if each.inode not in gone]


@lru_cache(maxsize=4_096)
def network(host: str) -> str:
    """The network that counts as one address."""
    return network_of(ipaddress.ip_address(host.partition("%")[0]), is_proxied=True)
