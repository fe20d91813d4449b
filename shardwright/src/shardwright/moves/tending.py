"""Looks after moves whose old copies follow: for a job, or a service, that runs all the time."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Protocol

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.moves.errors import MoveFailed, MoveRefused
from shardwright.moves.models import Move
from shardwright.topology import Directory, fetch_value

_TRY_LOCK = "SELECT pg_try_advisory_lock(hashtext('shardwright move tend'))"
_FAILURES = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)


class _Mover(Protocol):
    """The part of `Mover` that is needed."""

    def moves(self) -> Awaitable[list[Move]]: ...
    def resume(self, move_id: int) -> Awaitable[Move]: ...
    def finish(self, move_id: int) -> Awaitable[Move]: ...


async def tend_moves(directory: Directory, mover: _Mover) -> list[Move]:
    """End what is over and look after what is kept, unless another process does; returns what was ended.

    What somebody else is just working on is left to them. What fails is raised when all the others were looked after.
    """
    ended: list[Move] = []
    failed: list[Exception] = []
    async with directory.connect() as conn:
        if not await fetch_value(conn, _TRY_LOCK):
            return []
        for move in await mover.moves():
            try:
                ended += await _tend(mover, move)
            except MoveRefused:
                continue  # somebody else is just working on it
            except _FAILURES as error:
                failed.append(error)
    if failed:
        raise MoveFailed("; ".join(str(error) or repr(error) for error in failed)) from failed[0]
    return ended


async def _tend(mover: _Mover, move: Move) -> list[Move]:
    if move.is_over(datetime.now(UTC)):
        return [await (mover.finish(move.id) if move.is_kept else mover.resume(move.id))]
    if move.is_kept:
        await mover.resume(move.id)
    return []
