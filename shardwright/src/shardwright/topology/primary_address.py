"""Which of a server's addresses leads to its primary: found by asking, and followed when a replica is promoted.

A promotion begins a new timeline. The highest that was ever seen is remembered, and a primary of an older one is
refused: it is the old primary, back after a failover, and whatever it accepted would be lost.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.topology.connections import ANY_HOST, fetch_rows, open_connection
from shardwright.topology.replica_addresses import replica_dsn
from shardwright.topology.shard_map import Server, ShardMap

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

ASK_TIMEOUT_S = 2.0
# Of a primary its own timeline; of a standby the one that its primary has recorded.
TIMELINE_COLUMNS = """\
pg_is_in_recovery() AS is_standby, (SELECT system_identifier FROM pg_control_system()) AS cluster,
  CASE WHEN NOT pg_is_in_recovery()
    THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer END AS timeline"""
_ASK = f"""\
SELECT {TIMELINE_COLUMNS}, (SELECT timeline FROM shardwright.replication) AS recorded,
  (SELECT server_name FROM shardwright.identity) AS name
"""  # noqa: S608 - constants


class Answer(NamedTuple):
    """What a server at an address says of itself."""

    dsn: str
    cluster: int
    timeline: int
    is_standby: bool


class PrimaryAddress:
    """The address of a server's primary."""

    def __init__(self, server: Server) -> None:
        self._name = server.name
        self.timeline = 0
        """The highest timeline of which this process has seen a primary; 0 before the first."""
        self._cluster: int | None = None
        self._search: asyncio.Task[None] | None = None
        self.on_promotion: list[Callable[[], None]] = []
        """Called when a primary of a higher timeline was found: connections to the old one must be dropped."""
        self.dsn = server.dsn
        self.set_addresses(server)

    def set_addresses(self, server: Server) -> None:
        """Know these addresses from now on; the primary is looked for again when there are several."""
        self.addresses = tuple(
            dict.fromkeys((server.dsn, *(replica_dsn(server.dsn, each) for each in server.replicas)))
        )
        if self.dsn not in self.addresses:
            self.dsn = server.dsn
        self.is_in_doubt = len(self.addresses) > 1

    def doubt(self) -> None:
        """Ask all addresses before the next connection is opened: the primary failed, or is none any more."""
        self.is_in_doubt = len(self.addresses) > 1

    async def find(self) -> None:
        """Ask every address which one is the primary, if that is in doubt; concurrent callers share one search."""
        if self.is_in_doubt:
            if self._search is None or self._search.done():
                self._search = asyncio.create_task(self._find(), name="shardwright-find-primary")
                self._search.add_done_callback(_retrieve)
            await asyncio.shield(self._search)

    def accept(self, cluster: int, timeline: int) -> None:
        """Take note of the timeline of a primary to which a connection was opened; raises when it is an old one's."""
        if cluster != self._cluster:
            self._cluster, self.timeline = cluster, 0  # another cluster was restored here, and counts anew
        if timeline < self.timeline:
            self.doubt()
            raise ServerUnavailable(
                f"what answers for server {self._name} is a former primary on timeline {timeline}, and timeline "
                f"{self.timeline} has begun: stop it, or make it a standby of the new primary"
            )
        if timeline > self.timeline:
            was, self.timeline = self.timeline, timeline
            if was:
                log.warning(
                    "server.promoted: the primary of %s is on timeline %s, no longer %s",
                    self._name,
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

    async def _find(self) -> None:
        answers = await self._ask_all()
        primaries = [answer for answer in answers if not answer.is_standby]
        if not primaries:
            raise ServerUnavailable(f"no primary of server {self._name} answers at any of its addresses")
        best = max(primaries, key=lambda answer: answer.timeline)
        newest = max(answer.timeline for answer in answers if answer.cluster == best.cluster)
        self.accept(best.cluster, best.timeline)
        if best.timeline < newest:
            raise ServerUnavailable(
                f"the only primary of server {self._name} that answers is a former one, on timeline {best.timeline}: "
                f"a standby follows timeline {newest}"
            )
        if self.dsn != best.dsn:
            log.warning("server.found: the primary of %s is at another of its addresses", self._name)
        self.dsn = best.dsn
        self.is_in_doubt = False

    async def _ask_all(self) -> list[Answer]:
        """The answers of all addresses; not waited for is whoever is slow once a newer primary has answered."""
        waiting = {asyncio.create_task(self._ask(dsn)) for dsn in self.addresses}
        answers: list[Answer] = []
        try:
            while waiting and not any(self._is_newer(answer) for answer in answers):
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                answers += [answer for task in done if (answer := task.result()) is not None]
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        return answers

    def _is_newer(self, answer: Answer) -> bool:
        return not answer.is_standby and answer.cluster == self._cluster and answer.timeline > self.timeline

    async def _ask(self, dsn: str) -> Answer | None:
        try:
            async with asyncio.timeout(ASK_TIMEOUT_S):
                conn = await open_connection(dsn, self._name, timeout_s=ASK_TIMEOUT_S, target=ANY_HOST)
                try:
                    row = cast("Any", (await fetch_rows(conn, _ASK))[0])
                finally:
                    conn.terminate()
        except (
            OSError,
            TimeoutError,
            ServerUnavailable,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
        ) as error:
            log.info("address.silent: one of server %s: %r", self._name, error)
            return None
        if row["name"] != self._name:
            log.warning("address.wrong: one of server %s leads to server %s", self._name, row["name"])
            return None
        timeline = row["recorded"] if row["is_standby"] else row["timeline"]
        return Answer(dsn, row["cluster"], timeline, row["is_standby"])


async def with_primaries(shard_map: ShardMap, names: Iterable[str]) -> ShardMap:
    """The map with the addresses at which the primaries of these servers are now; as in `locate_primary`."""
    found = [await locate_primary(shard_map.servers[name]) for name in names]
    return replace(shard_map, servers={**shard_map.servers, **{server.name: server for server in found}})


async def locate_primary(server: Server) -> Server:
    """The server with the address at which its primary is now, for connections that no router opens.

    One without replicas stays as it is. Raises when no primary answers, or only a former one does.
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


def is_standby(conn: "Connection") -> bool:
    """Whether the server at the other end has said that it is a standby, as PostgreSQL does without being asked."""
    settings = cast("Any", conn).get_settings()  # asyncpg's types are incomplete
    return getattr(settings, "in_hot_standby", "off") == "on"
