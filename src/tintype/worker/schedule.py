"""Work that repeats by the clock, in one worker at a time.

Workers compete for a lease; the leader looks for due work once a second. Each run is claimed in the database as
well, so that a leader that was paused past its lease cannot run a schedule twice in one interval.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Sequence

from tintype.base.jobs import Schedule
from tintype.base.leases import Leases
from tintype.base.log import begin_request, get_log

log = get_log("schedule")
LEASE = "scheduler"
LEASE_S = 10.0
TICK_S = 1.0


class Scheduler:
    """Runs the schedules whenever this worker leads."""

    def __init__(self, schedules: Sequence[Schedule], leases: Leases) -> None:
        self._schedules, self._leases = schedules, leases
        self._holder = secrets.token_hex(8)
        self._is_leader = False
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Lead when possible, for ever; hand the lead over when cancelled."""
        try:
            while True:
                await self._tick()
                await asyncio.sleep(TICK_S if self._is_leader else LEASE_S / 3)
        finally:
            for task in self._running.values():
                task.cancel()
            with contextlib.suppress(Exception):  # the lease runs out by itself when the database is gone too
                async with asyncio.timeout(2):
                    await self._leases.drop(LEASE, self._holder)

    async def _tick(self) -> None:
        try:
            is_leader = await self._leases.take(LEASE, self._holder, ttl_s=LEASE_S)
            if is_leader != self._is_leader:
                log.info("scheduler.elected" if is_leader else "scheduler.stepped_down")
            self._is_leader = is_leader
            if is_leader:
                await self._start_due()
        except Exception as error:  # noqa: BLE001 - the clock must survive whatever the database says
            self._is_leader = False
            log.warning("scheduler.interrupted", error=f"{type(error).__name__}: {error}")

    async def _start_due(self) -> None:
        for schedule in self._schedules:
            running = self._running.get(schedule.name)
            if running and not running.done():
                continue
            if await self._leases.start_due(schedule.name, every_s=schedule.every_s):
                self._running[schedule.name] = asyncio.create_task(self._run_one(schedule))

    async def _run_one(self, schedule: Schedule) -> None:
        begin_request(schedule=schedule.name)
        error = ""
        try:
            await schedule.run()
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"[:500]
            log.warning("schedule.failed", error=error, exc_info=True)
        await self._leases.note_end(schedule.name, error=error)
