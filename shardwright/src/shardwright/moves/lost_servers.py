"""Ends or undoes a move whose other server is gone for good: everything of it at the server that is left is dropped.

Should the lost server come back after all, `shardwright move sweep` finds what is on it.
"""

from typing import TYPE_CHECKING

from shardwright.moves import links
from shardwright.moves.journal import Journal
from shardwright.moves.models import FINISHING, ORDER, Move, Step
from shardwright.moves.ownership import own
from shardwright.topology import Directory, owned_numbers

if TYPE_CHECKING:
    from asyncpg import Connection

FLIPPED = frozenset(ORDER[ORDER.index(Step.FLIP) : ORDER.index(Step.DONE)])
"""The steps at which the target owns the shards: it needs the source for nothing any more."""


async def finish_without_source(directory: Directory, journal: Journal, target: "Connection") -> Move:
    """End the move: the map names its target, which keeps nothing for the source any more."""
    move = journal.move
    if move.step is Step.FLIP:
        await directory.set_owner(move.target, move.shards, journal.conn)
    if move.step not in FINISHING:
        await journal.advance(Step.UNLINK, {"lost": move.source})
    await links.end_subscriber(target, move.link)
    await links.end_publisher(target, move.reverse_link)
    if journal.move.step is Step.UNLINK:
        await journal.advance(Step.DROP)
    return await journal.advance(Step.DONE)


async def undo_without_target(journal: Journal, source: "Connection") -> Move:
    """Undo the move, which `abort` is journalled of: its source owns the shards and keeps nothing for the target.

    Of a move back, the source is the owner of the time before, and the old copies that it kept are lost: finish it.
    """
    move = journal.move
    if len(await owned_numbers(source, move.shards)) < len(move.shards):
        await own(source, move.shards)
    await links.end_subscriber(source, move.reverse_link)
    if move.turn:
        return await journal.advance(Step.KEEP, turns=-1)
    await links.end_publisher(source, move.link)
    return await journal.advance(Step.ABORTED, {"lost": move.target})
