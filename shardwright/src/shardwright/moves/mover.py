"""Moves shards to another server while they are used, and undoes or ends such moves.

At every moment at most one server accepts writes to a shard. Whatever is killed, `resume` leads a move to its end.
Before the target is made the owner `abort` undoes it; afterwards `back` does, with what was written since.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.moves.errors import MoveFailed, MoveRefused
from shardwright.moves.journal import Journal, plan_move, read_move, read_moves
from shardwright.moves.models import (
    ENDED,
    FINISHING,
    MOVING,
    ORDER,
    UNDOABLE,
    Move,
    MoveOptions,
    OnProgress,
    OnStep,
    Phase,
    Step,
)
from shardwright.moves.old_copies import drop_copies
from shardwright.moves.ownership import own, owned_shards
from shardwright.moves.session import Session, open_locked, open_session
from shardwright.moves.steps import Steps
from shardwright.topology import Directory

NO_ADDRESSES: Mapping[str, str] = MappingProxyType({})
_DEFAULT_OPTIONS = MoveOptions()
_LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # a server that is being stopped
)


class Mover:
    """Moves shards of one directory.

    It signs in to servers as a superuser, without a transaction pooler in between. `addresses` are those by which
    servers reach each other, by name, where they differ from the map's.
    """

    def __init__(
        self,
        directory: Directory,
        *,
        addresses: Mapping[str, str] = NO_ADDRESSES,
        options: MoveOptions = _DEFAULT_OPTIONS,
        progress: OnProgress | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self._directory = directory
        self._addresses = addresses
        self._options = options
        self._progress = progress
        self._on_step = on_step

    async def start(self, shards: Sequence[int], target: str) -> Move:
        """Move shards of one server to another; returns when that owns them and the old one follows it."""
        return await self.resume((await plan_move(self._directory, shards, target)).id)

    async def moves(self, *, ended: bool = False) -> list[Move]:
        """The moves that have not ended, or all of them."""
        return await read_moves(self._directory, ended=ended)

    async def resume(self, move_id: int) -> Move:
        """Go on with a move that was interrupted, whatever it was doing.

        An old copy that follows gets the partitions that were created since: without them, its changes wait.
        """
        move = await read_move(self._directory, move_id)
        if move.step is Step.ABORT:
            return await self._abort(move)
        if move.step in FINISHING:
            return await self._finish(move)
        return await self._move_on(move)

    async def abort(self, move_id: int) -> Move:
        """Undo a move whose target is not the owner yet; nothing is left of it at the target."""
        move = await read_move(self._directory, move_id)
        if move.step not in UNDOABLE and move.step is not Step.ABORT:
            raise MoveRefused(
                f"{move} is past the point of no return: resume it, then `shardwright move back {move_id}`"
            )
        return await self._abort(move)

    async def back(self, move_id: int) -> Move:
        """Move the shards back to where they were, with everything that was written since."""
        move = await read_move(self._directory, move_id)
        if move.step is not Step.KEEP:
            raise MoveRefused(f"{move} is at {move.step}: it can be undone while its old copy follows (keep)")
        async with self._attempt(move) as (journal, steps):
            await journal.advance(Step.CATCH_UP, turns=1)
            steps.turn()
            return await self._advance(journal, steps)

    async def finish(self, move_id: int) -> Move:
        """End a move: the old copies are dropped, and it can no longer be undone."""
        move = await read_move(self._directory, move_id)
        if move.step is not Step.KEEP and move.step not in FINISHING:
            raise MoveRefused(f"{move} is at {move.step}: resume or abort it first")
        return await self._finish(move)

    async def _move_on(self, move: Move) -> Move:
        if move.step in ENDED:
            return move
        async with self._attempt(move) as (journal, steps):
            if journal.move.step is Step.KEEP:
                await steps.follow_partitions_back()
            if journal.move.step in {Step.FENCE, Step.DRAIN}:
                await self._give_back(journal, steps.session)
            return await self._advance(journal, steps)

    async def _advance(self, journal: Journal, steps: Steps) -> Move:
        """Carry out the remaining steps up to the one at which the target owns the shards and the source follows."""
        while (step := journal.move.step) in MOVING:
            try:
                await self._carry_out(journal, steps, step)
            except MoveRefused:
                if step is Step.CHECK:
                    await journal.advance(Step.ABORTED)  # nothing was done yet
                raise
        return journal.move

    async def _carry_out(self, journal: Journal, steps: Steps, step: Step) -> None:
        is_fenced = step in {Step.FENCE, Step.DRAIN}
        try:
            self._report(journal.move, "begin")
            await steps.effects[step]()
            self._report(journal.move, "effect")
            if step is Step.FENCE:
                await journal.advance(Step.DRAIN)
        except BaseException as error:
            if is_fenced:  # nobody but the source can be the owner: it goes on
                await asyncio.shield(self._try_give_back(journal, steps.session, error))
            raise
        if step is not Step.FENCE:
            await journal.advance(ORDER[ORDER.index(step) + 1], steps.take_details())

    async def _give_back(self, journal: Journal, session: Session) -> None:
        """Make the source the owner again, of a move that has not got to the activation of its target."""
        await own(session.source, journal.move.shards)
        await journal.advance(Step.CATCH_UP)

    async def _try_give_back(self, journal: Journal, session: Session, error: BaseException) -> None:
        try:
            await self._give_back(journal, session)
        except (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as second:
            error.add_note(f"{journal.move} may have no owner until it is resumed or aborted: {second!r}")

    async def _abort(self, move: Move) -> Move:
        shard_map = await self._directory.load()
        journal = await Journal.claim(self._directory, move)
        try:
            if journal.move.step not in UNDOABLE and journal.move.step is not Step.ABORT:
                raise MoveRefused(f"{journal.move} has got to {journal.move.step} meanwhile: resume it")
            if journal.move.step is not Step.ABORT:
                await journal.advance(Step.ABORT)
            move = journal.move
            self._report(move, "begin")
            # The source first: it must own its shards again even where the target does not answer.
            async with open_locked(shard_map.servers[move.source], move, self._options) as source:
                if len(await owned_shards(source, move.shards)) < len(move.shards):
                    await own(source, move.shards)
                async with open_locked(shard_map.servers[move.target], move, self._options) as target:
                    servers = shard_map.servers[move.source], shard_map.servers[move.target]
                    await self._clear_away(Session(*servers, source, target), move)
            self._report(move, "effect")
            if move.turn:
                return await journal.advance(Step.KEEP, turns=-1)
            return await journal.advance(Step.ABORTED)
        finally:
            await journal.close()

    async def _clear_away(self, session: Session, move: Move) -> None:
        await Steps.unlink(session.turned(), move.reverse_link)
        if not move.turn:
            await Steps.unlink(session, move.link)
            await drop_copies(session.target, move.shards)

    async def _finish(self, move: Move) -> Move:
        async with self._attempt(move) as (journal, steps):
            if journal.move.step is Step.KEEP:
                await journal.advance(Step.UNLINK)
            session = steps.session
            if journal.move.step is Step.UNLINK:
                self._report(journal.move, "begin")
                await Steps.unlink(session.turned(), journal.move.reverse_link)
                self._report(journal.move, "effect")
                await journal.advance(Step.DROP)
            self._report(journal.move, "begin")
            await drop_copies(session.source, journal.move.shards)
            self._report(journal.move, "effect")
            return await journal.advance(Step.DONE)

    @asynccontextmanager
    async def _attempt(self, move: Move) -> AsyncGenerator[tuple[Journal, Steps]]:
        """Both servers locked for this move, then its journal: whoever had it before can write to neither."""
        shard_map = await self._directory.load()
        async with open_session(shard_map, move, self._options) as session:
            journal = await Journal.claim(self._directory, move)
            steps = Steps(self._directory, journal, session, self._addresses, self._options, self._progress)
            try:
                if (journal.move.step, journal.move.turn) != (move.step, move.turn):
                    raise MoveRefused(f"another process is working on {move}: try again")
                yield journal, steps
            except _LOST as error:
                raise MoveFailed(
                    f"a connection was lost during {move}: run `shardwright move resume {move.id}` when both servers "
                    f"and the directory answer ({error!r})"
                ) from error
            finally:
                steps.close()
                await journal.close()

    def _report(self, move: Move, phase: Phase) -> None:
        if self._on_step is not None:
            self._on_step(move, phase)
