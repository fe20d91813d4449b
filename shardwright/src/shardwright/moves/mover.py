"""Moves shards to another server while they are used, and undoes or ends such moves.

At every moment at most one server accepts writes to a shard. Whatever is killed, `resume` leads a move to its end.
Before the target is made the owner `abort` undoes it; afterwards `back` does, with what was written since.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

from shardwright.moves.errors import MoveRefused
from shardwright.moves.give_back import FENCED, give_back, try_give_back
from shardwright.moves.journal import Journal, plan_move, read_move, read_moves
from shardwright.moves.lost_connections import cut_after, explained
from shardwright.moves.lost_servers import FLIPPED, finish_without_source, undo_without_target
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
from shardwright.moves.ownership import own
from shardwright.moves.session import Session, open_locked, open_session
from shardwright.moves.steps import Steps
from shardwright.moves.tending import tend_moves
from shardwright.topology import Directory, ShardMap, locate_primary, owned_numbers, with_primaries

NO_ADDRESSES: Mapping[str, str] = MappingProxyType({})
_DEFAULT_OPTIONS = MoveOptions()


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

    async def start(self, shards: Sequence[int], target: str, *, keep_s: float | None = None) -> Move:
        """Move shards of one server to another; returns when that owns them and the old one follows it.

        `keep_s` is for how long the old copies follow: `tend` drops them afterwards. Without it, `finish` does.
        """
        return await self.resume((await plan_move(self._directory, shards, target, keep_s)).id)

    async def tend(self) -> list[Move]:
        """Look after moves whose old copies follow: end those that are due, and give the others new partitions.

        To be called every now and then, by a job for example. Returns those that were ended. One process does it at a
        time: while another one does, nothing happens. What somebody else is just working on is left to them, and what
        fails does not keep it from the others: it is raised at the end.
        """
        return await tend_moves(self._directory, self)

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

    async def abort(self, move_id: int, *, is_lost: bool = False) -> Move:
        """Undo a move whose target is not the owner yet; nothing is left of it at the target.

        With `is_lost` the target is not asked: it is gone for good.
        """
        move = await read_move(self._directory, move_id)
        if move.step is Step.ABORTED:
            return move
        if move.step is Step.DONE:
            raise MoveRefused(f"{move} has ended, and cannot be undone: move the shards again")
        if move.step not in UNDOABLE and move.step is not Step.ABORT:
            raise MoveRefused(
                f"{move} is past the point of no return: resume it, then `shardwright move back {move_id}`"
            )
        return await self._abort(move, is_lost=is_lost)

    async def back(self, move_id: int) -> Move:
        """Move the shards back to where they were, with everything that was written since."""
        move = await read_move(self._directory, move_id)
        if move.step is not Step.KEEP:
            raise MoveRefused(f"{move} is at {move.step}: it can be undone while its old copy follows (keep)")
        async with self._attempt(move) as (journal, steps):
            await journal.advance(Step.CATCH_UP, turns=1)
            steps.turn()
            return await self._advance(journal, steps)

    async def finish(self, move_id: int, *, is_lost: bool = False, is_unequal: bool = False) -> Move:
        """End a move: the old copies are dropped, and it can no longer be undone.

        With `is_lost` their server is not asked: it is gone for good. With `is_unequal` they are dropped although the
        comparison has found that they differ.
        """
        move = await read_move(self._directory, move_id)
        if move.step is Step.DONE:
            return move
        if move.step is Step.ABORTED:
            raise MoveRefused(f"{move} was undone, and has ended")
        is_endable = move.step is Step.KEEP or move.step in FINISHING
        if not (
            is_endable or (is_lost and move.step in FLIPPED) or (is_unequal and move.step is Step.VERIFY)
        ):
            raise MoveRefused(f"{move} is at {move.step}: resume or abort it first")
        return await (self._finish_without_source(move) if is_lost else self._finish(move))

    async def _move_on(self, move: Move) -> Move:
        if move.step in ENDED:
            return move
        async with self._attempt(move) as (journal, steps):
            if journal.move.step is Step.KEEP:
                self._report(journal.move, "begin")
                await steps.tend_old_copy()
                self._report(journal.move, "effect")
            if journal.move.step in FENCED:
                await give_back(journal, steps.session)
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
        try:
            self._report(journal.move, "begin")
            async with self._limit(step, journal, steps.session):
                await steps.effects[step]()
            self._report(journal.move, "effect")
            if step is Step.FENCE:
                await journal.advance(Step.DRAIN)
        except BaseException as error:
            if step in FENCED:  # nobody but the source can be the owner: it goes on
                giving = try_give_back(self._directory, journal, steps.session, self._options, error)
                await asyncio.shield(giving)
            raise
        if step is not Step.FENCE:
            await journal.advance(ORDER[ORDER.index(step) + 1], steps.take_details())

    @asynccontextmanager
    async def _limit(self, step: Step, journal: Journal, session: Session) -> AsyncGenerator[None]:
        """Where nobody can write, do not wait for ever for a server that does not answer.

        During the drain the other connections are needed: the source becomes the owner again. Later they are given up,
        and the move has to be resumed.
        """
        limit_s = 2 * self._options.drain_timeout_s
        if step is Step.DRAIN:
            async with asyncio.timeout(limit_s):
                yield
        elif step in {Step.ACTIVATE, Step.FLIP}:
            with cut_after(limit_s, (journal.conn, session.source, session.target)):
                yield
        else:
            yield

    async def _load(self, *servers: str) -> ShardMap:
        """The map; a replica of these servers that was promoted is taken for its server, a former primary never."""
        return await with_primaries(await self._directory.load(), servers)

    async def _abort(self, move: Move, *, is_lost: bool = False) -> Move:
        shard_map = await self._load(move.source)
        with explained(move):
            journal = await Journal.claim(self._directory, move, self._options.drain_timeout_s)
            try:
                return await self._undo(journal, shard_map, is_lost=is_lost)
            finally:
                journal.close()

    async def _undo(self, journal: Journal, shard_map: ShardMap, *, is_lost: bool) -> Move:
        if journal.move.step not in UNDOABLE and journal.move.step is not Step.ABORT:
            raise MoveRefused(f"{journal.move} has got to {journal.move.step} meanwhile: resume it")
        if journal.move.step is not Step.ABORT:
            await journal.advance(Step.ABORT)
        move = journal.move
        self._report(move, "begin")
        # The source first: it must own its shards again even where the target does not answer.
        async with open_locked(shard_map.servers[move.source], move, self._options) as source:
            if is_lost:
                return await undo_without_target(journal, source)
            if len(await owned_numbers(source, move.shards)) < len(move.shards):
                await own(source, move.shards)
            servers = shard_map.servers[move.source], await locate_primary(shard_map.servers[move.target])
            async with open_locked(servers[1], move, self._options) as target:
                await self._clear_away(Session(*servers, source, target), move)
        self._report(move, "effect")
        if move.turn:
            return await journal.advance(Step.KEEP, turns=-1)
        return await journal.advance(Step.ABORTED)

    async def _clear_away(self, session: Session, move: Move) -> None:
        await Steps.unlink(session.turned(), move.reverse_link)
        if not move.turn:
            await Steps.unlink(session, move.link)
            await drop_copies(session.target, move.shards)

    async def _finish_without_source(self, move: Move) -> Move:
        shard_map = await self._load(move.target)
        with explained(move):
            async with open_locked(shard_map.servers[move.target], move, self._options) as target:
                journal = await Journal.claim(self._directory, move, self._options.drain_timeout_s)
                try:
                    _check_unchanged(journal, move)
                    return await finish_without_source(self._directory, journal, target)
                finally:
                    journal.close()

    async def _finish(self, move: Move) -> Move:
        async with self._attempt(move) as (journal, steps):
            if journal.move.step not in FINISHING:
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
        shard_map = await self._load(move.source, move.target)
        with explained(move):
            async with open_session(shard_map, move, self._options) as session:
                journal = await Journal.claim(self._directory, move, self._options.drain_timeout_s)
                steps = Steps(
                    self._directory,
                    journal,
                    session,
                    shard_map.layout,
                    self._addresses,
                    self._options,
                    self._progress,
                )
                try:
                    _check_unchanged(journal, move)
                    yield journal, steps
                finally:
                    steps.close()
                    journal.close()

    def _report(self, move: Move, phase: Phase) -> None:
        if self._on_step is not None:
            self._on_step(move, phase)


def _check_unchanged(journal: Journal, move: Move) -> None:
    if (journal.move.step, journal.move.turn) != (move.step, move.turn):
        raise MoveRefused(f"another process is working on {move}: try again")
