"""Puts relays, consumers and the scheduler of one worker process together, and takes them down in order."""

import asyncio
import contextlib
from collections.abc import Sequence

from nats.aio.client import Client

from shardwright.running import Shards
from tintype.base.bus import Names
from tintype.base.jobs import Handler, Schedule
from tintype.base.leases import Leases
from tintype.base.log import get_log
from tintype.base.settings import Settings
from tintype.worker import sql
from tintype.worker.consume import Consumer
from tintype.worker.databases import connected
from tintype.worker.relay import Relay
from tintype.worker.schedule import Scheduler
from tintype.worker.streams import ensure_streams

log = get_log("worker")
GRACE_S = 8.0
CANCEL_AGAIN_S = 0.5
WATCH_S = 5.0
SWEEP_BATCH = 5000


class Worker:
    """One worker process. `run` returns after `stop`, with the jobs under way finished."""

    def __init__(
        self,
        settings: Settings,
        shards: Shards,
        bus: Client,
        *,
        handlers: Sequence[Handler],
        schedules: Sequence[Schedule],
    ) -> None:
        self._shards, self._bus = shards, bus
        self._names = Names(settings.namespace)
        self._keep_s = settings.outbox_keep_s
        self._consumers = [
            Consumer(handler, bus.jetstream(), self._names, attempts=settings.job_attempts)
            for handler in handlers
        ]
        every_sweep_s = max(1.0, min(300.0, settings.outbox_keep_s / 4))
        own = [Schedule("outbox-sweep", every_sweep_s, self.sweep_outboxes)]
        self._scheduler = Scheduler([*own, *schedules], Leases(shards))
        self._relays: dict[str, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Ask `run` to come to an end."""
        self._stopping.set()

    async def run(self) -> None:
        """Work until stopped."""
        await ensure_streams(self._bus.jetstream(), self._names)
        # Consumers first: the stream keeps an event only for those who were there when it arrived.
        for consumer in self._consumers:
            await consumer.ensure()
        tasks = [asyncio.create_task(consumer.run()) for consumer in self._consumers]
        tasks += [asyncio.create_task(self._scheduler.run()), asyncio.create_task(self._watch_servers())]
        log.info("worker.started", handlers=len(self._consumers))
        stop = asyncio.create_task(self._stopping.wait())
        ended, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        await self._end([*tasks, *self._relays.values(), stop])
        for task in ended - {stop}:
            task.result()  # a loop that ended by itself ended by an error: let it be seen

    async def _end(self, tasks: Sequence[asyncio.Task[object]]) -> None:
        # More than once: a library that waits with wait_for can lose a cancellation in Python 3.11.
        left = set(tasks)
        while left:
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.gather(*(consumer.finish() for consumer in self._consumers))
        log.info("worker.stopped")

    async def _watch_servers(self) -> None:
        """A relay for every server of the map, also for those added while we run."""
        while True:
            for name, server in self._shards.map.servers.items():
                if name not in self._relays:
                    relay = Relay(name, server.dsn, self._bus, self._names)
                    self._relays[name] = asyncio.create_task(relay.run())
            for name, task in self._relays.items():
                if task.done():
                    task.result()
                    raise RuntimeError(f"the relay of server {name} ended by itself")
            await asyncio.sleep(WATCH_S)

    async def sweep_outboxes(self) -> None:
        """Delete relayed events that are older than the time we keep them for a refill."""
        for server in self._shards.map.servers.values():
            async with connected(server.dsn) as connection:
                while await connection.fetchval(sql.SWEEP, float(self._keep_s), SWEEP_BATCH) == SWEEP_BATCH:
                    pass
