"""Carries a plan out: in batches of a few shards, so many at once, each ended before the next one begins."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shardwright.moves import Move, Mover
from shardwright.rebalancing.models import Plan, Relocation

DEFAULT_BATCH_SHARDS = 32
DEFAULT_BATCH_BYTES = 8 * 2**30

OnMoved = Callable[[Move], None]


@dataclass(frozen=True)
class Pace:
    """How a plan is carried out."""

    batch_shards: int = DEFAULT_BATCH_SHARDS
    batch_bytes: int = DEFAULT_BATCH_BYTES
    """Shards of one batch are copied together; a larger shard is a batch by itself."""
    concurrent: int = 1
    """Batches that are under way at once."""
    keep_s: float = 0.0
    """For how long old copies follow. Each keeps a slot and its server's WAL meanwhile."""


def batches(relocations: Sequence[Relocation], pace: Pace) -> list[list[Relocation]]:
    """The moves of a plan: shards with the same way together, as many as a batch may have."""
    found: list[list[Relocation]] = []
    for source, target in sorted({(each.source, each.target) for each in relocations}):
        batch: list[Relocation] = []
        for each in (one for one in relocations if (one.source, one.target) == (source, target)):
            is_full = len(batch) >= pace.batch_shards
            if batch and (is_full or sum(one.size_bytes for one in [*batch, each]) > pace.batch_bytes):
                found.append(batch)
                batch = []
            batch.append(each)
        found.append(batch)
    return found


async def carry_out(mover: Mover, plan: Plan, pace: Pace, on_moved: OnMoved | None = None) -> list[Move]:
    """Move every shard of the plan; returns the moves.

    After a failure no further batch begins; those that are under way are led to their end, then it is raised. What
    was not moved is in the next plan.
    """
    left, moved, failures = batches(plan.relocations, pace), list[Move](), list[Exception]()

    async def work() -> None:
        while left and not failures:
            batch = left.pop(0)
            try:
                move = await _move(mover, batch, pace)
            except Exception as error:  # noqa: BLE001 - raised below, when the others have ended
                failures.append(error)
                return
            moved.append(move)
            if on_moved is not None:
                on_moved(move)

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, pace.concurrent)):
            group.create_task(work())
    if failures:
        raise failures[0]
    return moved


async def _move(mover: Mover, batch: Sequence[Relocation], pace: Pace) -> Move:
    move = await mover.start([each.shard for each in batch], batch[0].target, keep_s=pace.keep_s)
    return move if pace.keep_s else await mover.finish(move.id)
