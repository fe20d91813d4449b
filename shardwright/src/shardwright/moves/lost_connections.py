"""What a move does about connections that are lost, and about servers that answer nothing any more."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import asyncpg

from shardwright.moves.errors import MoveFailed
from shardwright.moves.models import Move

if TYPE_CHECKING:
    from asyncpg import Connection

LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # a server that is being stopped
)


@contextmanager
def explained(move: Move) -> Generator[None]:
    """Say of a connection that was lost what to do about the move."""
    try:
        yield
    except LOST as error:
        raise MoveFailed(
            f"a connection was lost during {move}: run `shardwright move resume {move.id}` when both servers "
            f"and the directory answer ({error!r})"
        ) from error


@contextmanager
def cut_after(limit_s: float, conns: "Sequence[Connection]") -> Generator[None]:
    """Give these connections up if the block takes longer: whatever waits for one of them fails at once."""

    def cut() -> None:
        for conn in conns:
            conn.terminate()

    watchdog = asyncio.get_running_loop().call_later(limit_s, cut)
    try:
        yield
    finally:
        watchdog.cancel()
