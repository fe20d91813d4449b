"""Makes the source the owner again when a move fails after its fence and before the activation of its target.

Until `activate` is journalled nobody but the source can be the owner, so it may go on whatever has failed. Over the
session's connection nobody can have come between. Where that is lost, a new one first gets the shards' locks, as every
coordinator has to, and then looks at the journal: whoever has led the move on meanwhile has written it there before.
"""

import asyncio

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.moves.journal import Journal
from shardwright.moves.lost_connections import LOST
from shardwright.moves.models import Move, MoveOptions, Step
from shardwright.moves.ownership import own
from shardwright.moves.session import Session, open_locked
from shardwright.topology import Directory, Server

FENCED = frozenset({Step.FENCE, Step.DRAIN})
"""The steps during which the source may refuse writes, and the target does not accept any yet."""
_PAUSE_S = 0.1


async def give_back(journal: Journal, session: Session) -> None:
    """Make the source the owner again, and journal that."""
    await own(session.source, journal.move.shards)
    await journal.advance(Step.CATCH_UP)


async def try_give_back(
    directory: Directory, journal: Journal, session: Session, options: MoveOptions, error: BaseException
) -> None:
    """Make the source the owner again, waiting a while for it if it is lost; `error` gets a note when it stays so."""
    limit_s = 2 * options.drain_timeout_s
    try:
        async with asyncio.timeout(limit_s):
            await give_back(journal, session)
    except LOST:
        session.source.terminate()  # with its locks
        try:
            async with asyncio.timeout(limit_s):
                await _reconnect(directory, journal.move, session.source_server, options)
        except TimeoutError as second:
            _note(journal.move, error, second)
    except (ShardwrightError, asyncpg.PostgresError) as second:
        _note(journal.move, error, second)


async def _reconnect(directory: Directory, move: Move, server: Server, options: MoveOptions) -> None:
    while True:
        try:
            async with open_locked(server, move, options) as source:
                journal = await Journal.claim(directory, move, options.drain_timeout_s)
                try:
                    if journal.move.step in FENCED and journal.move.turn == move.turn:
                        await own(source, move.shards)
                        await journal.advance(Step.CATCH_UP)
                finally:
                    journal.close()
        except (ShardwrightError, *LOST):
            await asyncio.sleep(_PAUSE_S)
        else:
            return


def _note(move: Move, error: BaseException, second: BaseException) -> None:
    error.add_note(f"{move} may have no owner until it is resumed or aborted: {second!r}")
