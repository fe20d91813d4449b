"""Snapshots of both copies of moved shards at one moment, for a comparison whose first snapshots were lost.

Writers of the owner wait, they are not refused, until the old copy has what was written before.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

from shardwright.moves.diff import Snapshots
from shardwright.moves.errors import MoveFailed
from shardwright.moves.links import is_ready, send_marker, wait_for_marker
from shardwright.moves.models import Move, MoveOptions
from shardwright.moves.ownership import NOT_FREE, lock_writers
from shardwright.moves.session import Session
from shardwright.moves.structure import missing_partitions


async def pin_equal_snapshots(
    session: Session, move: Move, options: MoveOptions, follow_partitions: Callable[[], Awaitable[None]]
) -> Snapshots:
    """Snapshots of both copies at one moment; `follow_partitions` gives the old copy those that it lacks."""
    snapshots = await Snapshots.connect(session)
    try:
        for attempt in range(1, options.fence_attempts + 1):
            await follow_partitions()
            await _wait_for_copies(session, move, options)
            if await _try_pin(snapshots, session, move, options):
                return snapshots
            await asyncio.sleep(random.uniform(0.01, 0.05) * min(attempt, 20))  # noqa: S311 - spread, not secrecy
    except BaseException:
        snapshots.close()
        raise
    snapshots.close()
    raise MoveFailed(f"the copies of {move} could not be compared, for writers do not end: resume the move")


async def _wait_for_copies(session: Session, move: Move, options: MoveOptions) -> None:
    """Wait until the old copy has the rows of new partitions: markers overtake them while they are copied."""
    while not await is_ready(session.source, move.reverse_link):
        await send_marker(
            session.target, move.reverse_link
        )  # PostgreSQL looks at copied tables when a change arrives
        await asyncio.sleep(options.poll_s)


async def _try_pin(snapshots: Snapshots, session: Session, move: Move, options: MoveOptions) -> bool:
    try:
        async with session.target.transaction():
            await lock_writers(session.target, move, options)
            if any(await missing_partitions(session.turned(), move)):
                return False
            marker = await snapshots.send_marker(move.reverse_link)
            await wait_for_marker(session.source, move.reverse_link, marker, options.drain_timeout_s)
            await snapshots.pin()
    except NOT_FREE:
        return False
    return True
