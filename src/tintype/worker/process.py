"""One worker process: starts its relays, consumers and scheduler, and stops them in order."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from nats.aio.client import Client

from shardwright.routing import Shards
from tintype.base.jobs import Handler, Schedule
from tintype.base.leader_lease import LeaderLease
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.schedule_runs import ScheduleRuns
from tintype.base.settings import Settings
from tintype.worker import store
from tintype.worker.backlog_metrics import BacklogMetrics
from tintype.worker.build_consumers import build_consumers
from tintype.worker.durables import StaleDurables
from tintype.worker.handler_runner import HandlerRunner
from tintype.worker.outbox_relay import OutboxRelay
from tintype.worker.retries import Retries
from tintype.worker.scheduler import Scheduler
from tintype.worker.server_connection import connect_to_server
from tintype.worker.streams import ensure_streams

log = get_log("worker")
GRACE_S = 8.0
CANCEL_AGAIN_S = 0.5
WATCH_SERVERS_EVERY_S = 5.0
SWEEP_BATCH = 5000
SWEEP_DURABLES_EVERY_S = 60.0


class _Relay(NamedTuple):
    dsn: str
    task: asyncio.Task[None]


class Worker:
    """One worker process. `run` returns after `stop`, once the running jobs have finished."""

    def __init__(
        self,
        settings: Settings,
        shards: Shards,
        nats: Client,
        *,
        handlers: Sequence[Handler],
        schedules: Sequence[Schedule],
        services: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        self._shards, self._nats = shards, nats
        self._names, self._services = NatsNames(settings.namespace), services
        self._keep_s = settings.outbox_keep_s
        retries = Retries(nats.jetstream(), self._names, attempts=settings.job_attempts)
        self._runners = [HandlerRunner(handler) for handler in handlers]
        self._consumers = build_consumers(self._runners, nats, self._names, retries)
        self.stale_durables = StaleDurables(
            nats.jetstream(), self._names, [each.durable for each in self._consumers]
        )
        self._backlog = BacklogMetrics(shards, nats.jetstream(), self._names)
        every_sweep_s = max(1.0, min(300.0, settings.outbox_keep_s / 4))
        own = [
            Schedule("outbox-sweep", every_sweep_s, self.sweep_outboxes),
            Schedule("durables-sweep", SWEEP_DURABLES_EVERY_S, self.sweep_durables),
        ]
        self._scheduler = Scheduler([*own, *schedules], LeaderLease(shards), ScheduleRuns(shards))
        self._relays: dict[str, _Relay] = {}
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Make `run` return."""
        self._stopping.set()

    async def run(self) -> None:
        """Work until `stop` is called."""
        await ensure_streams(self._nats.jetstream(), self._names)
        # Consumers first: the stream keeps an event only for consumers that existed when it arrived.
        await asyncio.gather(*(consumer.ensure() for consumer in self._consumers))
        tasks = [asyncio.create_task(consumer.run()) for consumer in self._consumers]
        own = (self._scheduler.run, self._watch_servers, self._backlog.run)
        tasks += [asyncio.create_task(each()) for each in own]
        tasks += [asyncio.create_task(_as_coroutine(service)) for service in self._services]
        log.info("worker.started", handlers=len(self._runners), durables=len(self._consumers))
        stop = asyncio.create_task(self._stopping.wait())
        try:
            ended, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:  # also when `run` itself is cancelled: nothing of it goes on without it
            await self._shut_down([*tasks, *(relay.task for relay in self._relays.values()), stop])
        for task in ended - {stop}:
            task.result()  # a loop that ended by itself ended with an exception: raise it

    async def _shut_down(self, tasks: Sequence[asyncio.Task[object]]) -> None:
        # More than once: a library that waits with wait_for can lose a cancellation in Python 3.11.
        left = set(tasks)
        while left:
            for task in left:
                task.cancel()
            _, left = await asyncio.wait(left, timeout=CANCEL_AGAIN_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await asyncio.gather(*(runner.finish() for runner in self._runners))
                await asyncio.gather(*(consumer.finish() for consumer in self._consumers))
        log.info("worker.stopped")

    async def _watch_servers(self) -> None:
        """Run a relay for every server of the shard map; servers are added and removed, and replicas promoted."""
        while True:
            addresses = {name: self._shards.primary_address(name) for name in self._shards.map.servers}
            for name, relay in list(self._relays.items()):
                if relay.task.done():
                    relay.task.result()
                    raise RuntimeError(f"the relay of server {name} ended unexpectedly")
                if addresses.get(name) != relay.dsn:
                    relay.task.cancel()
                    await asyncio.wait([relay.task])
                    del self._relays[name]
                    log.info("relay.stopped", server=name)
            for name, dsn in addresses.items():
                if name not in self._relays:
                    run = OutboxRelay(name, dsn, self._nats, self._names).run()
                    self._relays[name] = _Relay(dsn, asyncio.create_task(run))
            await asyncio.sleep(WATCH_SERVERS_EVERY_S)

    async def sweep_durables(self) -> None:
        """Delete durable consumers of handlers that no running worker has: they would hold messages for nobody."""
        await self.stale_durables.delete()

    async def sweep_outboxes(self) -> None:
        """Delete published events that are older than `outbox_keep_s`: the relay can no longer publish them again."""
        for name in self._shards.map.servers:
            async with connect_to_server(self._shards.primary_address(name)) as connection:
                while await connection.fetchval(store.SWEEP, float(self._keep_s), SWEEP_BATCH) == SWEEP_BATCH:
                    pass


async def _as_coroutine(service: Callable[[], Awaitable[None]]) -> None:
    await service()
