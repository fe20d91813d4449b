"""One worker process: starts its relays, consumers and scheduler, and stops them in order."""

import asyncio
import contextlib
from collections.abc import Sequence

from nats.aio.client import Client

from shardwright.routing import Shards
from tintype.base.jobs import Handler, Schedule
from tintype.base.leader_lease import LeaderLease
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.schedule_runs import ScheduleRuns
from tintype.base.settings import Settings
from tintype.worker import store
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
    ) -> None:
        self._shards, self._nats = shards, nats
        self._names = NatsNames(settings.namespace)
        self._keep_s = settings.outbox_keep_s
        retries = Retries(nats.jetstream(), self._names, attempts=settings.job_attempts)
        self._runners = [HandlerRunner(handler) for handler in handlers]
        self._consumers = build_consumers(self._runners, nats, self._names, retries)
        self.stale_durables = StaleDurables(
            nats.jetstream(), self._names, [each.durable for each in self._consumers]
        )
        every_sweep_s = max(1.0, min(300.0, settings.outbox_keep_s / 4))
        own = [
            Schedule("outbox-sweep", every_sweep_s, self.sweep_outboxes),
            Schedule("durables-sweep", SWEEP_DURABLES_EVERY_S, self.sweep_durables),
        ]
        self._scheduler = Scheduler([*own, *schedules], LeaderLease(shards), ScheduleRuns(shards))
        self._relays: dict[str, asyncio.Task[None]] = {}
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
        tasks += [asyncio.create_task(self._scheduler.run()), asyncio.create_task(self._watch_servers())]
        log.info("worker.started", handlers=len(self._runners), durables=len(self._consumers))
        stop = asyncio.create_task(self._stopping.wait())
        try:
            ended, _ = await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:  # also when `run` itself is cancelled: nothing of it goes on without it
            await self._shut_down([*tasks, *self._relays.values(), stop])
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
        """Run a relay for every server of the shard map, including those added later."""
        while True:
            for name, server in self._shards.map.servers.items():
                if name not in self._relays:
                    relay = OutboxRelay(name, server.dsn, self._nats, self._names)
                    self._relays[name] = asyncio.create_task(relay.run())
            for name, task in self._relays.items():
                if task.done():
                    task.result()
                    raise RuntimeError(f"the relay of server {name} ended unexpectedly")
            await asyncio.sleep(WATCH_SERVERS_EVERY_S)

    async def sweep_durables(self) -> None:
        """Delete durable consumers of handlers that no running worker has: they would hold messages for nobody."""
        await self.stale_durables.delete()

    async def sweep_outboxes(self) -> None:
        """Delete published events that are older than `outbox_keep_s`: the relay can no longer publish them again."""
        for server in self._shards.map.servers.values():
            async with connect_to_server(server.dsn) as connection:
                while await connection.fetchval(store.SWEEP, float(self._keep_s), SWEEP_BATCH) == SWEEP_BATCH:
                    pass
