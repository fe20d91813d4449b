"""Outbox relay: publishes the committed outbox rows of one PostgreSQL server to JetStream.

Rows are never changed. What is published is a PostgreSQL snapshot in one small row: every transaction that it sees. A
relay locks that row, reads what has committed since, publishes it with dedupe ids of its own and stores the new
snapshot; relays of other workers skip the locked row. Killed in between, the events are simply published again and
JetStream drops the repeats. Rows stay for a while: when the stream turns out to be a new incarnation, or to have lost
its tail, the position is set back.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import cast

import asyncpg
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as BusError
from prometheus_client import Counter

from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.worker import store
from tintype.worker.publisher import Outgoing, Publisher
from tintype.worker.server_connection import connect_to_server
from tintype.worker.streams import ensure_streams

log = get_log("relay")
BATCH = 500
POLL_S = 1.0
"""Finds rows whose poke was lost: one read a second per server, however many shards it holds."""
PACE_S = 0.05
"""The least time between two batches that were not full: under load they grow instead of becoming many.

Handlers write a batch with a statement per shard: with half of this, a write and all that follows from it took 4 to
14 % more CPU time. An event after a pause waits for nothing."""
CHECKPOINT_EVERY_S = 10.0
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.2, 5.0

relayed = Counter("tintype_outbox_relayed", "Events carried from an outbox to the stream.", ["server"])


class OutboxRelay:
    """Relays until cancelled; after any failure it reconnects with exponential backoff."""

    def __init__(self, server: str, dsn: str, nats: Client, names: NatsNames) -> None:
        self._server, self._dsn, self._nats, self._names = server, dsn, nats, names
        self._js = nats.jetstream()
        self._wake = asyncio.Event()
        self._checkpoint_at = 0.0
        self._backoff_s = FIRST_BACKOFF_S
        self._relayed = relayed.labels(server)

    async def run(self) -> None:
        """Relay until cancelled."""
        pokes = await self._nats.subscribe(self._names.poke(self._server), cb=self._on_poke)
        try:
            await self._relay_and_reconnect()
        finally:
            with contextlib.suppress(BusError):
                await pokes.unsubscribe()

    async def _relay_and_reconnect(self) -> None:
        while True:
            try:
                await self._run_connected()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, BusError, TimeoutError) as error:
                log.warning(
                    "relay.interrupted",
                    server=self._server,
                    error=f"{type(error).__name__}: {error}",
                    backoff_s=self._backoff_s,
                )
                await asyncio.sleep(self._backoff_s)
                self._backoff_s = min(self._backoff_s * 2, MAX_BACKOFF_S)

    async def _on_poke(self, _message: Msg) -> None:
        self._wake.set()

    async def _run_connected(self) -> None:
        """Use one connection to the database and one to NATS until either is lost: check the stream, then relay."""
        async with connect_to_server(self._dsn) as connection, Publisher(self._nats) as publisher:
            connected = self._nats.stats["reconnects"]
            await self._refill(connection)
            is_due = True
            while connected == self._nats.stats["reconnects"]:
                self._wake.clear()
                while is_due and await self._relay_batch(connection, publisher):
                    pass
                self._backoff_s = FIRST_BACKOFF_S  # both ends work: the next failure is a new one
                await asyncio.sleep(PACE_S)
                is_due = await self._wait_for_poke() or cast(
                    "bool", await connection.fetchval(store.IS_WAITING)
                )

    async def _wait_for_poke(self) -> bool:
        # Not wait_for: in Python 3.11 it can swallow a cancellation that meets a poke.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._wake.wait()
        return self._wake.is_set()

    async def _refill(self, connection: asyncpg.Connection) -> None:
        """Set the position back to before events that the stream once acknowledged and has since lost."""
        incarnation = await ensure_streams(self._js, self._names)
        info = await self._js.stream_info(self._names.events_stream)
        async with connection.transaction():
            known = cast("asyncpg.Record", await connection.fetchrow(store.READ_POSITION))
            is_restored = known["cluster"] not in {None, known["own_cluster"]}
            is_lost = is_restored or known["incarnation"] != incarnation
            if is_restored:
                await connection.execute(store.ADOPT_ROWS)
                await connection.execute(store.RENEW_SOURCE)
            if is_lost or known["stream_seq"] > info.state.last_seq:
                await self._resume_after(connection, -1 if is_lost else info.state.last_seq)
            await connection.execute(store.STORE_IDENTITY, incarnation, known["own_cluster"])

    async def _resume_after(self, connection: asyncpg.Connection, sequence: int) -> None:
        for statement in (store.FORGET_CHECKPOINTS, store.UNMARK_AFTER, store.RESUME_AFTER):
            await connection.execute(statement, sequence)
        waiting = cast("int", await connection.fetchval(store.COUNT_WAITING))
        if waiting:
            log.warning("relay.refilled", server=self._server, events=waiting, is_new_stream=sequence < 0)

    async def _relay_batch(self, connection: asyncpg.Connection, publisher: Publisher) -> bool:
        """Publish one batch, unless another worker is at it; True when there may be more."""
        # Plain text, so that each of these is one round trip. An error ends the connection and the transaction with it.
        status = await connection.execute(f"BEGIN; {store.LOCK_POSITION}")
        if status != "SELECT 1":
            await connection.execute("ROLLBACK")
            return False
        rows = cast("list[asyncpg.Record]", await connection.fetch(store.READ_EVENTS, BATCH))
        sequence = 0
        if rows:
            sequence = await publisher.publish_all([_outgoing(self._names, row) for row in rows])
            self._relayed.inc(len(rows))
        await connection.execute(f"{self._advance(rows, sequence)}; COMMIT")
        return len(rows) == BATCH

    def _advance(self, rows: Sequence[asyncpg.Record], sequence: int) -> str:
        if not rows:
            return store.END_WINDOW
        last = rows[-1]
        if len(rows) == BATCH:
            return store.move_within_window(last["until"], last["xid"], last["id"], sequence)
        now = asyncio.get_running_loop().time()
        if now < self._checkpoint_at + CHECKPOINT_EVERY_S:
            return store.finish_window(last["until"], sequence)
        self._checkpoint_at = now
        return f"{store.finish_window(last['until'], sequence)}; {store.ADD_CHECKPOINT}"


def _outgoing(names: NatsNames, row: asyncpg.Record) -> Outgoing:
    headers = {"Nats-Msg-Id": f"{row['source']}:{row['id']}"}
    if row["request_id"]:
        headers["Request-Id"] = row["request_id"]
    return Outgoing(names.event(row["event"]), row["payload"], headers)
