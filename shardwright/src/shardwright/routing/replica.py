"""One streaming replica of a server: its connections, and how far it is known to have replayed the WAL.

A position that a replica has shown is a proof: every statement sent to it later sees at least that. There is one way
back: a standby that crashed starts again from its last restart point. All its connections end with it, so what holds
for the connections that are open now is what was asked after the last of them was opened.
"""

import asyncio
import contextlib
import logging
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import ServerUnavailable
from shardwright.routing.dispatch_functions import FunctionKey
from shardwright.routing.function_installer import InstalledFunction
from shardwright.routing.options import PoolOptions
from shardwright.routing.pooled_connection import Connector, PooledConnection
from shardwright.routing.server_client import ServerClient
from shardwright.routing.shard_connection import ShardConnection
from shardwright.routing.wal_positions import (
    REPLICA_COLUMNS,
    Observation,
    Position,
    SharedCall,
    observe_replica,
    replica_observation,
)
from shardwright.topology import ANY_HOST, PrimaryAddress, Server

if TYPE_CHECKING:
    from asyncpg import Record

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 2.0
ANSWER_TIMEOUT_S = 1.0  # of a question that takes a fraction of a millisecond
NOWHERE = Position(0, 0)


class Replica:
    """A replica of a server, as this process knows it."""

    def __init__(self, primary: ServerClient, dsn: str, options: PoolOptions) -> None:
        self.dsn = dsn
        self._of = primary.primary
        server = replace(primary.server, dsn=dsn, replicas=())
        limited = replace(options, connect_timeout_s=min(options.connect_timeout_s, CONNECT_TIMEOUT_S))
        self._connector = _ReplicaConnector(self, server, limited)
        self.client = _ReplicaClient(primary, server, limited, self._connector)
        self.position = NOWHERE
        self.is_standby = False
        self.is_behind_pooler = False
        self.is_left_out = True
        """Whether it lags too far behind, or does not answer, or nobody knows yet."""
        self.lag_s: float | None = None
        """How far it was behind when it was last asked; None when that is not known."""
        self.asked_at = float("-inf")
        self.opened_at = float("-inf")
        """When the last connection to it was opened."""
        self.incarnation = ""
        """Of the connections that are open now: what one of them has shown, every later statement shows."""
        self._monitor: ShardConnection | None = None
        self._asking = SharedCall(self._ask)

    @property
    def server(self) -> str:
        """The name of the server that it is a copy of."""
        return self.client.server.name

    async def ask(self, since: float = float("-inf")) -> Observation:
        """Ask how far it is, in a call that begins at this time or later; concurrent callers share one.

        Raises `ServerUnavailable` when it does not answer; its connections are then dropped.
        """
        return await self._asking.after(since)

    async def reach(self, position: Position, until: float) -> bool:
        """Whether it replays the WAL up to this position before this time."""
        pause_s = 0.001
        while not self.has_reached(position):
            left_s = until - monotonic()
            if left_s <= 0 or self.position.timeline > position.timeline:
                return False
            try:
                await self.ask()
            except ServerUnavailable:
                return False
            if not self.has_reached(position):
                await asyncio.sleep(min(pause_s, max(0.0, left_s)))
                pause_s = min(pause_s * 2, 0.01)
        return True

    def has_reached(self, position: Position) -> bool:
        """Whether it is known to have replayed the WAL up to this position of its own timeline."""
        own = self.position
        return own.timeline == position.timeline and own.lsn >= position.lsn

    def note_opened(self, found: Observation) -> None:
        """A connection was opened, and this asked over it: if it has gone back, it crashed meanwhile."""
        self.opened_at = monotonic()
        self._note_role(found)
        self.position = found.position
        self.incarnation = found.incarnation

    def _note_role(self, found: Observation) -> None:
        """Note whether it is a standby; if not, look which address is the primary: it may have been promoted.

        The former primary may go on answering meanwhile, so nobody else would notice. One that shows an older timeline
        than the primary's is no news: it is a former primary itself.
        """
        self.is_standby = found.is_standby
        if not found.is_standby and found.position.timeline >= self._of.timeline:
            self._of.doubt()

    async def close(self) -> None:
        """Close all connections to it."""
        await self._asking.close()
        self._drop_monitor()
        await self.client.close()

    def give_up(self) -> None:
        """Drop all connections: it does not answer. Statements that wait for it fail, and go elsewhere."""
        self.is_left_out = True
        self.lag_s = None
        self._drop_monitor()
        for pool in (self.client.point_pool, self.client.gather_pool):
            pool.drop_connections()

    def close_idle_monitor(self) -> None:
        """Close the connection over which it is asked, because nobody asks."""
        self.is_left_out = True
        self._drop_monitor()

    def _drop_monitor(self) -> None:
        if self._monitor is not None:
            self._monitor.terminate()
            self._monitor = None

    async def _ask(self) -> Observation:
        """Over a connection of its own: those of the pool may all be busy with long statements."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S + CONNECT_TIMEOUT_S):
                if self._monitor is None or self._monitor.is_closed():
                    self._monitor, self.is_behind_pooler = await self._connector.connect()
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                found = await observe_replica(self._monitor)
        except (
            OSError,
            TimeoutError,
            ServerUnavailable,
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
        ) as error:
            self.give_up()
            raise ServerUnavailable(
                f"a replica of server {self.server} does not answer: {error!r}"
            ) from error
        self.asked_at = found.sent_at
        self._note_role(found)
        if found.sent_at >= self.opened_at:  # otherwise it may have been answered before a crash
            self.position = found.position
        return found


class _ReplicaConnector(Connector):
    """Opens connections to a replica, whose position it learns by that."""

    _columns = f"{REPLICA_COLUMNS} FROM shardwright.replication AS r"
    _target = ANY_HOST

    def __init__(self, replica: Replica, server: Server, options: PoolOptions) -> None:
        super().__init__(server, options, PrimaryAddress(server))
        self._replica = replica

    def _accept(self, conn: ShardConnection, row: "Record", sent_at: float) -> None:
        found = replica_observation(row, sent_at)
        self._replica.note_opened(found)
        if not found.is_standby:
            conn.terminate()
            raise ServerUnavailable(f"what answers as a replica of server {self.server.name} is no standby")


class _ReplicaClient(ServerClient):
    """Sends reads to a replica, through the dispatch functions that the primary has."""

    def __init__(
        self, primary: ServerClient, server: Server, options: PoolOptions, connector: Connector
    ) -> None:
        super().__init__(server, options, connector)
        self._of = primary
        self.fit = primary.fit

    async def _find_function(
        self,
        wanted: FunctionKey,
        pooled: PooledConnection,  # noqa: ARG002 - as its base class
        number: int,  # noqa: ARG002 - likewise
    ) -> InstalledFunction | None:
        """The function that the primary has; where it has none yet, the primary is asked, and gets one."""
        found = self._of.functions.installed.get(wanted)
        if found is None:
            raise ServerUnavailable(
                f"{wanted.query.name} has no dispatch function on server {self.server.name} yet"
            )
        return found


def log_failure(replica: Replica, error: BaseException) -> None:
    """A read on a replica failed, and the primary is asked instead."""
    log.info("replica.skipped: one of server %s: %r", replica.server, error)


async def close_all(replicas: list[Replica]) -> None:
    """Close these replicas' connections."""
    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            for replica in replicas:
                group.create_task(replica.close())
