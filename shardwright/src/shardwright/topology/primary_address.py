"""Which of a server's addresses leads to its primary: found by asking, and followed when a replica is promoted.

Addresses are the hosts that its address names and its replicas' in the map. The last primary is remembered, so that
nobody is asked before the next connection unless there is a reason for doubt. A promotion begins a new timeline. The
highest that was ever seen is remembered too, and a primary of an older one is refused: it is the old primary, back
after a failover, and whatever it accepted would be lost.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from shardwright.errors import ServerUnavailable
from shardwright.topology.address_answers import PATIENCE_S, Answer, ask_addresses
from shardwright.topology.connections import open_connection
from shardwright.topology.host_list import split_hosts
from shardwright.topology.replica_addresses import replica_dsn
from shardwright.topology.shard_map import Server, ShardMap

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

RECALL_TIMEOUT_S = 1.0
"""How long a connection to the remembered primary may take to open; then all addresses are asked."""
CONFIRMED_S = 5.0
"""How long the primary counts as confirmed: sooner than that no standby takes the place of one that hangs."""
CONFIRM_PATIENCE_S = 0.25  # a call is waiting, and the primary has mostly answered already


class PrimaryAddress:
    """The address of a server's primary, or of the directory's."""

    def __init__(self, server: Server, *, is_directory: bool = False) -> None:
        self._name = None if is_directory else server.name
        self._label = "the directory" if is_directory else f"server {server.name}"
        self.timeline = 0
        """The highest timeline of which this process has seen a primary; 0 before the first."""
        self._cluster: int | None = None
        self._search: asyncio.Task[None] | None = None
        self._confirmed_at = float("-inf")
        self.on_promotion: list[Callable[[], None]] = []
        """Called when a primary of a higher timeline was found: connections to the old one must be dropped."""
        self.addresses: tuple[str, ...] = ()
        self.dsn = ""
        self.is_in_doubt = False
        self.set_addresses(server)

    def set_addresses(self, server: Server) -> None:
        """Know these addresses from now on; the primary is looked for again when others have come."""
        named = (server.dsn, *(replica_dsn(server.dsn, each) for each in server.replicas))
        addresses = tuple(dict.fromkeys(host for dsn in named for host in split_hosts(dsn)))
        if addresses == self.addresses:
            return
        self.addresses = addresses
        if self.dsn not in addresses:
            self.dsn = addresses[0]
        self.doubt()

    @property
    def has_several(self) -> bool:
        """Whether there is more than one address, so that the primary may be elsewhere."""
        return len(self.addresses) > 1

    def doubt(self) -> None:
        """Ask all addresses before the next connection is opened: the primary failed, or is none any more."""
        self.is_in_doubt = self.has_several

    async def find(self, patience_s: float = PATIENCE_S) -> None:
        """Ask every address which one is the primary, if that is in doubt; concurrent callers share one search."""
        if self.is_in_doubt:
            self._start_search(patience_s)
            await asyncio.shield(cast("asyncio.Task[None]", self._search))

    async def find_to_connect(self, limit_s: float) -> float:
        """Find the primary, unless it is known well enough; how long a connection to it may take to open.

        One that is merely remembered gets a second: if it hangs, another address may have the primary by now.
        """
        if self.is_in_doubt:
            await self.find()
        elif self.is_unconfirmed(monotonic()):
            await self.confirm()
        elif self.has_several:
            return min(limit_s, RECALL_TIMEOUT_S)
        return limit_s

    def is_unconfirmed(self, now: float) -> bool:
        """Whether a standby may have taken its place unnoticed: it is long since the primary was known to be it."""
        return self.has_several and now - self._confirmed_at > CONFIRMED_S

    async def confirm(self) -> None:
        """Find out whether the primary is still it, before a connection is used that has rested for long.

        It may have hung meanwhile, have been replaced, and go on as if it were the primary.
        """
        self.doubt()
        await self.find(CONFIRM_PATIENCE_S)

    def confirm_later(self) -> None:
        """Find it out in the background."""
        self.doubt()
        self._start_search(PATIENCE_S)

    def accept(self, cluster: int, timeline: int) -> None:
        """Take note of the timeline of a primary to which a connection was opened; raises when it is an old one's."""
        if cluster != self._cluster:
            self._cluster, self.timeline = cluster, 0  # another cluster was restored here, and counts anew
        if timeline < self.timeline:
            self.doubt()
            raise ServerUnavailable(
                f"what answers for {self._label} is a former primary on timeline {timeline}, and timeline "
                f"{self.timeline} has begun: stop it, or make it a standby of the new primary"
            )
        if timeline > self.timeline:
            was, self.timeline = self.timeline, timeline
            if was:
                log.warning(
                    "server.promoted: the primary of %s is on timeline %s, no longer %s",
                    self._label,
                    timeline,
                    was,
                )
                for callback in self.on_promotion:
                    callback()

    async def close(self) -> None:
        """Cancel a search in progress."""
        if self._search is not None:
            self._search.cancel()
            await asyncio.gather(self._search, return_exceptions=True)

    def _start_search(self, patience_s: float) -> None:
        if self._search is None or self._search.done():
            self._search = asyncio.create_task(self._find(patience_s), name="shardwright-find-primary")
            self._search.add_done_callback(_retrieve)

    async def _find(self, patience_s: float) -> None:
        answers = await ask_addresses(self.addresses, self._name, self._is_newer, patience_s)
        primaries = [answer for answer in answers if not answer.is_standby]
        if not primaries:
            raise ServerUnavailable(f"no primary of {self._label} answers at any of its addresses")
        best = max(primaries, key=lambda answer: (answer.is_named, answer.timeline, answer.dsn == self.dsn))
        newest = max(answer.timeline for answer in answers if answer.cluster == best.cluster)
        if best.timeline < newest:
            raise ServerUnavailable(
                f"the only primary of {self._label} that answers is a former one, on timeline {best.timeline}: "
                f"a standby follows timeline {newest}"
            )
        self.accept(best.cluster, best.timeline)
        if self.dsn != best.dsn:
            log.warning("server.found: the primary of %s is at another of its addresses", self._label)
        self.dsn = best.dsn
        self.is_in_doubt = False
        self._confirmed_at = monotonic()

    def _is_newer(self, answer: Answer) -> bool:
        return not answer.is_standby and answer.cluster == self._cluster and answer.timeline > self.timeline


async def with_primaries(shard_map: ShardMap, names: Iterable[str]) -> ShardMap:
    """The map with the addresses at which the primaries of these servers are now; as in `locate_primary`."""
    found = [await locate_primary(shard_map.servers[name]) for name in names]
    return replace(shard_map, servers={**shard_map.servers, **{server.name: server for server in found}})


async def locate_primary(server: Server) -> Server:
    """The server with the address at which its primary is now, for connections that no router opens.

    One with a single address stays as it is. Raises when no primary answers, or only a former one does.
    """
    address = PrimaryAddress(server)
    await address.find()
    return replace(server, dsn=address.dsn)


async def open_primary(server: Server, **options: Any) -> "Connection":
    """A connection to the server's primary; options as of `open_connection`. Raises as `locate_primary` does."""
    found = await locate_primary(server)
    return await open_connection(found.dsn, f"server {server.name}", **options)


def _retrieve(task: "asyncio.Task[None]") -> None:
    """Nobody may be waiting any more when a search fails: that is no reason for a warning."""
    if not task.cancelled():
        task.exception()


def is_read_only(conn: "Connection") -> bool:
    """Whether the server at the other end has said that it takes no writes, as PostgreSQL does without being asked.

    It is a standby, or was made read-only: libpq judges by the same two settings.
    """
    settings = cast("Any", conn).get_settings()  # asyncpg's types are incomplete
    return "on" in (
        getattr(settings, "in_hot_standby", "off"),
        getattr(settings, "default_transaction_read_only", "off"),
    )
