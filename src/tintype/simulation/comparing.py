"""The same day under each threshold, every time on empty shards, so that none profits from the one before."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tintype.simulation.advice import advise
from tintype.simulation.living import Day, Measured
from tintype.simulation.models import Choices, Outcome, Report, spread_of
from tintype.simulation.plan import Plan, make_plan
from tintype.simulation.settling import Settler
from tintype.wiring import Rooms

Progress: TypeAlias = Callable[[int, str, int, int], None]
"""Told the threshold, the stage, how much of it is done, and how much there is."""
ENTRIES = "tintype_feed_entries_total"
"""The counter of the worker that `Site.entries` tells."""
STAGES = ("settling", "waking", "living", "counting")
SETTLE_LOOKS, SETTLE_S = 60, 0.5


@dataclass(frozen=True)
class Site:
    """An installation of the simulation's own, empty, with a worker at work."""

    rooms: Rooms
    worker_cpu_s: Callable[[], float]
    entries: Callable[[], float]
    """How many entries the worker has pushed to timelines up to now, by its own count."""


class Ground(Protocol):
    """Where installations can be built for a while."""

    def build(self, threshold: int) -> AbstractAsyncContextManager[Site]:
        """An empty installation with this threshold; nothing of it is left afterwards."""
        ...


class Simulation:
    """One population, compared with itself."""

    def __init__(self, ground: Ground, choices: Choices) -> None:
        self._ground, self._plan = ground, make_plan(choices)

    async def compare(self, thresholds: Sequence[int], progress: Progress) -> Report:
        """What each threshold did to these people."""
        outcomes: list[Outcome] = []
        for threshold in thresholds:
            progress(threshold, STAGES[0], 0, 1)
            async with self._ground.build(threshold) as site:
                outcomes.append(await _try(site, self._plan, threshold, progress))
        most = max(self._plan.followers.values(), default=0)
        return Report(self._plan.choices, most, outcomes, advise(outcomes, most))


async def _try(site: Site, plan: Plan, threshold: int, progress: Progress) -> Outcome:
    def shower(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: progress(threshold, stage, done, total)

    settler = Settler(site.rooms.shards)
    stars = {number for number, count in plan.followers.items() if count >= max(1, threshold)}
    ids = await settler.settle(plan.people, history=plan.choices.history, stars=stars)
    pictures = await settler.lay_out_pictures(ids[act.person] for act in plan.acts if act.deed == "post")
    shower("settling")(1, 1)
    day = Day(site.rooms, plan, ids, pictures)
    await day.wake(shower("waking"))
    before, entries = await _cpu_s(site), site.entries()
    seen = await day.live(shower("living"))
    after = await _cpu_s(site)
    pushed = await _settled(site.entries) - entries
    listed = sum(author in stars for author in seen.published.values())
    shower("counting")(1, 1)
    spent = {part: after[part] - before[part] for part in after}
    return _outcome(threshold, seen, len(stars), round(pushed) + listed, spent)


def _outcome(threshold: int, seen: Measured, stars: int, entries: int, cpu_s: dict[str, float]) -> Outcome:
    return Outcome(
        threshold=threshold,
        posts=len(seen.published),
        reads=seen.reads,
        failed=seen.failed,
        stars=stars,
        read_ms=spread_of(seen.read_ms),
        fresh_ms=spread_of(seen.fresh_ms),
        unseen=seen.unseen,
        late_ms=spread_of(seen.late_ms),
        entries=entries,
        cpu_s=cpu_s,
    )


async def _cpu_s(site: Site) -> dict[str, float]:
    found = await site.rooms.redis.info("cpu")
    return {
        "rooms": time.process_time(),
        "worker": site.worker_cpu_s(),
        "redis": float(found["used_cpu_user"]) + float(found["used_cpu_sys"]),
    }


async def _settled(count: Callable[[], float]) -> float:
    """The count, once it no longer grows."""
    counted = count()
    for _ in range(SETTLE_LOOKS):
        await asyncio.sleep(SETTLE_S)
        if count() == counted:
            break
        counted = count()
    return counted
