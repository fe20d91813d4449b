"""Gauges of what waits: events in the outboxes, and jobs in the stream.

Every worker measures all of it: a value of an elected one would stay behind when another is elected.
"""

import asyncio

import asyncpg
from nats.errors import Error as BusError
from nats.js import JetStreamContext
from prometheus_client import Gauge

from shardwright.routing import Shards
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.worker.outbox_backlog import count_waiting_events

log = get_log("backlog")
MEASURE_EVERY_S = 15.0

outbox_waiting = Gauge(
    "tintype_outbox_waiting",
    "Committed events that no relay has published yet.",
    ["server"],
    multiprocess_mode="mostrecent",
)
jobs_waiting = Gauge(
    "tintype_jobs_waiting",
    "Events in the stream that their handlers have not finished.",
    ["durable"],
    multiprocess_mode="mostrecent",
)


class BacklogMetrics:
    """Measures the outbox of every server and every durable consumer of the stream of events."""

    def __init__(self, shards: Shards, js: JetStreamContext, names: NatsNames) -> None:
        self._shards, self._js, self._names = shards, js, names

    async def run(self) -> None:
        """Measure every few seconds until cancelled; what cannot be asked keeps its last value."""
        while True:
            await asyncio.sleep(MEASURE_EVERY_S)
            try:
                await self.measure()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, BusError, TimeoutError) as error:
                log.warning("backlog.unmeasured", error=f"{type(error).__name__}: {error}")

    async def measure(self) -> None:
        """Set the gauges to what waits now."""
        for server in self._shards.map.servers:
            waiting = await count_waiting_events(self._shards.primary_address(server))
            outbox_waiting.labels(server).set(waiting)
        for consumer in await self._js.consumers_info(self._names.events_stream):
            unfinished = (consumer.num_pending or 0) + (consumer.num_ack_pending or 0)
            jobs_waiting.labels(consumer.name).set(unfinished)
