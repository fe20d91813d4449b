"""Outbox relay: publishes the committed outbox rows of one PostgreSQL server to JetStream.

A row is locked (SKIP LOCKED, so that many relays share the work), published with its own dedupe id, and marked with
the stream sequence that JetStream acknowledged; only then does the transaction commit. Killed in between,
the row is simply published again and JetStream drops the repeat. Marked rows stay for a while: when the stream
turns out to be a new incarnation, or to have lost its tail, they are published again.
"""

import asyncio
import contextlib
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
"""Finds rows whose poke was lost: one index probe a second per server, however many shards it holds."""
FIRST_BACKOFF_S, MAX_BACKOFF_S = 0.2, 5.0

relayed = Counter("tintype_outbox_relayed", "Events carried from an outbox to the stream.", ["server"])


class OutboxRelay:
    """Relays until cancelled; after any failure it reconnects with exponential backoff."""

    def __init__(self, server: str, dsn: str, nats: Client, names: NatsNames) -> None:
        self._server, self._dsn, self._nats, self._names = server, dsn, nats, names
        self._js = nats.jetstream()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Relay until cancelled."""
        pokes = await self._nats.subscribe(self._names.poke(self._server), cb=self._on_poke)
        try:
            await self._relay_and_reconnect()
        finally:
            with contextlib.suppress(BusError):
                await pokes.unsubscribe()

    async def _relay_and_reconnect(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        while True:
            try:
                await self._run_connected()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, BusError, TimeoutError) as error:
                log.warning(
                    "relay.interrupted",
                    server=self._server,
                    error=f"{type(error).__name__}: {error}",
                    backoff_s=backoff_s,
                )
                await asyncio.sleep(backoff_s)
                backoff_s = min(backoff_s * 2, MAX_BACKOFF_S)
            else:
                backoff_s = FIRST_BACKOFF_S

    async def _on_poke(self, _message: Msg) -> None:
        self._wake.set()

    async def _run_connected(self) -> None:
        """Use one database connection until it fails: check the stream, then relay."""
        async with connect_to_server(self._dsn) as connection, Publisher(self._nats) as publisher:
            await self._refill(connection)
            while True:
                self._wake.clear()
                while await self._relay_batch(connection, publisher):
                    pass
                # Not wait_for: in Python 3.11 it can swallow a cancellation that meets a poke.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S):
                        await self._wake.wait()

    async def _refill(self, connection: asyncpg.Connection) -> None:
        """Mark rows as unpublished that the stream once acknowledged and has since lost."""
        incarnation = await ensure_streams(self._js, self._names)
        info = await self._js.stream_info(self._names.events_stream)
        async with connection.transaction():
            known = cast("str | None", await connection.fetchval(store.READ_INCARNATION))
            after = -1 if known != incarnation else info.state.last_seq
            lost = cast("int", await connection.fetchval(store.UNMARK_AFTER, after))
            await connection.execute(store.STORE_INCARNATION, incarnation)
        if lost:
            log.warning(
                "relay.refilled", server=self._server, events=lost, is_new_stream=known != incarnation
            )

    async def _relay_batch(self, connection: asyncpg.Connection, publisher: Publisher) -> bool:
        """Publish one batch; True when there may be more."""
        async with connection.transaction():
            rows = cast("list[asyncpg.Record]", await connection.fetch(store.CLAIM, BATCH))
            if not rows:
                return False
            sequences = await publisher.publish_all([_outgoing(self._names, row) for row in rows])
            await connection.execute(store.MARK_PUBLISHED, [row["id"] for row in rows], sequences)
        relayed.labels(self._server).inc(len(rows))
        return len(rows) == BATCH


def _outgoing(names: NatsNames, row: asyncpg.Record) -> Outgoing:
    headers = {"Nats-Msg-Id": f"{row['source']}:{row['id']}", "Request-Id": row["request_id"]}
    return Outgoing(names.event(row["event"]), row["payload"], headers)
