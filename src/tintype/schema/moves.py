"""Ends moves of shards before migrations, which wait as long as old copies follow."""

from datetime import UTC, datetime

from shardwright.errors import SetupInvalid
from shardwright.moves import Mover
from shardwright.topology import Directory
from tintype.base.router_addresses import router_dsns
from tintype.base.settings import Settings, as_migrator, as_superuser, directory_dsn


async def end_moves(settings: Settings, *, kept: bool) -> list[int]:
    """End the moves whose time is over, or also all others whose old copies are kept; returns their numbers.

    Signs in as a superuser.
    """
    directory = await Directory.open(
        directory_dsn(as_migrator(settings)), dsns=router_dsns(as_superuser(settings))
    )
    try:
        mover = Mover(directory)
        try:
            moves = await mover.moves()
        except SetupInvalid:
            return []  # there is no directory yet, or one of an earlier release, which could move nothing
        ending = [move for move in moves if move.is_over(datetime.now(UTC)) or (kept and move.is_kept)]
        for move in ending:
            await (mover.finish(move.id) if move.is_kept else mover.resume(move.id))
        return [move.id for move in ending]
    finally:
        await directory.close()
