"""Carries committed outbox rows of one PostgreSQL server to JetStream.

A row is locked (SKIP LOCKED, so that many relays share the work), published with its own dedupe id, and marked with
the stream sequence that JetStream acknowledged; only then does the transaction commit. Killed in between,
the row is simply published again and JetStream drops the repeat. Marked rows stay for a while: when the stream
turns out to be a new incarnation, or to have lost its tail, they are sent anew.
"""

import asyncio
import contextlib
from typing import cast

import asyncpg
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as BusError
from prometheus_client import Counter

from tintype.base.bus import Names
from tintype.base.log import get_log
from tintype.worker import sql
from tintype.worker.databases import connected
from tintype.worker.publishing import Outgoing, Publisher
from tintype.worker.streams import ensure_streams

log = get_log("relay")
BATCH = 500
POLL_S = 1.0
"""The net under lost pokes: one index probe a second per server, however many shards it holds."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0

relayed = Counter("tintype_outbox_relayed", "Events carried from an outbox to the stream.", ["server"])


class Relay:
    """Runs until cancelled; every failure leads to a fresh connection after a pause."""

    def __init__(self, server: str, dsn: str, bus: Client, names: Names) -> None:
        self._server, self._dsn, self._bus, self._names = server, dsn, bus, names
        self._js = bus.jetstream()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Relay for ever."""
        pokes = await self._bus.subscribe(self._names.poke(self._server), cb=self._on_poke)
        try:
            await self._run_for_ever()
        finally:
            with contextlib.suppress(BusError):
                await pokes.unsubscribe()

    async def _run_for_ever(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                await self._run_connected()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, BusError, TimeoutError) as error:
                log.warning(
                    "relay.interrupted",
                    server=self._server,
                    error=f"{type(error).__name__}: {error}",
                    pause_s=pause_s,
                )
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, LONGEST_PAUSE_S)
            else:
                pause_s = FIRST_PAUSE_S

    async def _on_poke(self, _message: Msg) -> None:
        self._wake.set()

    async def _run_connected(self) -> None:
        """One life of a database connection: check the stream, then relay while both sides answer."""
        async with connected(self._dsn) as connection, Publisher(self._bus) as publisher:
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
        """Send again what the stream no longer has although it once acknowledged it."""
        incarnation = await ensure_streams(self._js, self._names)
        info = await self._js.stream_info(self._names.events_stream)
        async with connection.transaction():
            known = cast("str | None", await connection.fetchval(sql.KNOWN_INCARNATION))
            after = -1 if known != incarnation else info.state.last_seq
            lost = cast("int", await connection.fetchval(sql.FORGET_AFTER, after))
            await connection.execute(sql.REMEMBER_INCARNATION, incarnation)
        if lost:
            log.warning(
                "relay.refilled", server=self._server, events=lost, is_new_stream=known != incarnation
            )

    async def _relay_batch(self, connection: asyncpg.Connection, publisher: Publisher) -> bool:
        """Move one batch; True when there may be more."""
        async with connection.transaction():
            rows = cast("list[asyncpg.Record]", await connection.fetch(sql.CLAIM, BATCH))
            if not rows:
                return False
            sequences = await publisher.publish_all([_outgoing(self._names, row) for row in rows])
            await connection.execute(sql.MARK, [row["id"] for row in rows], sequences)
        relayed.labels(self._server).inc(len(rows))
        return len(rows) == BATCH


def _outgoing(names: Names, row: asyncpg.Record) -> Outgoing:
    headers = {"Nats-Msg-Id": f"{row['source']}:{row['id']}", "Request-Id": row["request_id"]}
    return Outgoing(names.event(row["event"]), row["payload"], headers)
