"""Runs the same day under each threshold, each time on empty shards, so that no run benefits from an earlier one."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tintype.simulation.bulk_fill import BulkFill
from tintype.simulation.load_run import LoadRun, Measurements
from tintype.simulation.models import SimulationOptions, SimulationReport, ThresholdOutcome, distribution_of
from tintype.simulation.plan import DayPlan, make_plan
from tintype.simulation.recommendation import recommendation_text
from tintype.wiring import Rooms

ReportProgress: TypeAlias = Callable[[int, str, int, int], None]
"""Called with the threshold, the stage, how much of it is done, and the total."""
ENTRIES = "tintype_feed_entries_total"
"""The worker's metric behind `Installation.entries`."""
STAGES = ("filling", "warming up", "running", "counting")
STABLE_CHECKS, STABLE_S = 60, 0.5


@dataclass(frozen=True)
class Installation:
    """A throw-away installation, empty, with a running worker."""

    rooms: Rooms
    worker_cpu_s: Callable[[], float]
    entries: Callable[[], float]
    """How many entries the worker has pushed to timelines so far, by its own metric."""


class InstallationFactory(Protocol):
    """Creates throw-away installations."""

    def build(self, threshold: int) -> AbstractAsyncContextManager[Installation]:
        """Create an empty installation with this threshold; it is deleted afterwards."""
        ...


class Simulation:
    """Runs one plan under several thresholds."""

    def __init__(self, factory: InstallationFactory, choices: SimulationOptions) -> None:
        self._factory, self._plan = factory, make_plan(choices)

    async def compare(self, thresholds: Sequence[int], progress: ReportProgress) -> SimulationReport:
        """Run the plan under each threshold and report the outcomes with a recommendation."""
        outcomes: list[ThresholdOutcome] = []
        for threshold in thresholds:
            progress(threshold, STAGES[0], 0, 1)
            async with self._factory.build(threshold) as installation:
                outcomes.append(await _run_threshold(installation, self._plan, threshold, progress))
        most = max(self._plan.followers.values(), default=0)
        return SimulationReport(self._plan.choices, most, outcomes, recommendation_text(outcomes, most))


async def _run_threshold(
    installation: Installation, plan: DayPlan, threshold: int, progress: ReportProgress
) -> ThresholdOutcome:
    def report(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(threshold, stage, done, total)

    bulk_fill = BulkFill(installation.rooms.shards)
    celebrities = {number for number, count in plan.followers.items() if count >= max(1, threshold)}
    ids = await bulk_fill.add_people(plan.people, history=plan.choices.history, celebrities=celebrities)
    pictures = await bulk_fill.add_pictures(
        ids[action.person] for action in plan.actions if action.kind == "post"
    )
    report("filling")(1, 1)
    run = LoadRun(installation.rooms, plan, ids, pictures)
    await run.warm_up(report("warming up"))
    before, entries = await _cpu_s(installation), installation.entries()
    measured = await run.execute(report("running"))
    after = await _cpu_s(installation)
    pushed = await _wait_until_stable(installation.entries) - entries
    listed = sum(author in celebrities for author in measured.published.values())
    report("counting")(1, 1)
    spent = {part: after[part] - before[part] for part in after}
    return _outcome(threshold, measured, len(celebrities), round(pushed) + listed, spent)


def _outcome(
    threshold: int, measured: Measurements, stars: int, entries: int, cpu_s: dict[str, float]
) -> ThresholdOutcome:
    return ThresholdOutcome(
        threshold=threshold,
        posts=len(measured.published),
        reads=measured.reads,
        failed=measured.failed,
        stars=stars,
        read_ms=distribution_of(measured.read_ms),
        fresh_ms=distribution_of(measured.fresh_ms),
        unseen=measured.unseen,
        late_ms=distribution_of(measured.late_ms),
        entries=entries,
        cpu_s=cpu_s,
    )


async def _cpu_s(installation: Installation) -> dict[str, float]:
    found = await installation.rooms.redis.info("cpu")
    return {
        "rooms": time.process_time(),
        "worker": installation.worker_cpu_s(),
        "redis": float(found["used_cpu_user"]) + float(found["used_cpu_sys"]),
    }


async def _wait_until_stable(count: Callable[[], float]) -> float:
    """Return the count once it no longer grows."""
    counted = count()
    for _ in range(STABLE_CHECKS):
        await asyncio.sleep(STABLE_S)
        if count() == counted:
            break
        counted = count()
    return counted
