"""Scheduler: runs schedules by the clock, in one worker at a time.

Workers compete for a leader lease; the leader checks for due schedules once a second. Each run is also claimed in the
database, so that a leader that was paused past its lease cannot run a schedule twice in one interval.
"""

import asyncio
import contextlib
import secrets
from collections.abc import Sequence

from tintype.base.jobs import Schedule
from tintype.base.leader_lease import LeaderLease
from tintype.base.log import begin_request, get_log
from tintype.base.schedule_runs import ScheduleRuns
from tintype.base.tracebacks import describe_error

log = get_log("schedule")
LEASE = "scheduler"
LEASE_S = 10.0
TICK_S = 1.0


class Scheduler:
    """Runs the schedules while this worker is the leader."""

    def __init__(self, schedules: Sequence[Schedule], leader_lease: LeaderLease, runs: ScheduleRuns) -> None:
        self._schedules, self._leader_lease, self._runs = schedules, leader_lease, runs
        self._holder = secrets.token_hex(8)
        self._is_leader = False
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run until cancelled, leading whenever the lease can be acquired; release the lease at the end."""
        try:
            while True:
                await self._tick()
                await asyncio.sleep(TICK_S if self._is_leader else LEASE_S / 3)
        finally:
            for task in self._running.values():
                task.cancel()
            with contextlib.suppress(Exception):  # the lease expires by itself when the database is gone too
                async with asyncio.timeout(2):
                    await self._leader_lease.release(LEASE, self._holder)

    async def _tick(self) -> None:
        try:
            is_leader = await self._leader_lease.acquire(LEASE, self._holder, ttl_s=LEASE_S)
            if is_leader != self._is_leader:
                log.info("scheduler.elected" if is_leader else "scheduler.stepped_down")
            self._is_leader = is_leader
            if is_leader:
                await self._start_due()
        except Exception as error:  # noqa: BLE001 - the scheduler must survive whatever the database raises
            self._is_leader = False
            log.warning("scheduler.interrupted", error=f"{type(error).__name__}: {error}")

    async def _start_due(self) -> None:
        idle = [each for each in self._schedules if not self._is_running(each)]
        due = await self._runs.find_due({each.name: each.every_s for each in idle})
        for schedule in (each for each in idle if each.name in due):
            if await self._runs.start_due(schedule.name, every_s=schedule.every_s):
                self._running[schedule.name] = asyncio.create_task(self._run_one(schedule))

    def _is_running(self, schedule: Schedule) -> bool:
        running = self._running.get(schedule.name)
        return running is not None and not running.done()

    async def _run_one(self, schedule: Schedule) -> None:
        begin_request(schedule=schedule.name)
        error = ""
        try:
            await schedule.run()
        except Exception as failure:
            error = describe_error(failure)[:500]
            log.warning("schedule.failed", error=error, exc_info=True)
        await self._runs.record_end(schedule.name, error=error)
