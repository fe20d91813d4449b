"""Adopts an unsharded database into shards while it is used, and returns, ends or undoes such adoptions.

At every moment at most one side accepts writes. Whatever is killed, `resume` leads an adoption to where it stays until
somebody decides: `follow`. Before the shards own the rows `abort` undoes it; afterwards `back` does, with what was
written since.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import asyncpg

from shardwright.adopt.catalog import read_tables
from shardwright.adopt.checker import Checker, CheckReport
from shardwright.adopt.errors import AdoptFailed, AdoptRefused
from shardwright.adopt.journal import Journal, TakenOver, begin_adoption, get_adoption, read_adoptions
from shardwright.adopt.models import (
    COPYING,
    SOURCE,
    SWITCHING,
    UNDOABLE,
    Adoption,
    AdoptOptions,
    OnProgress,
    OnStep,
    Phase,
    Step,
    no_progress,
)
from shardwright.adopt.plan import Plan, parse_plan
from shardwright.adopt.routes import Routes, check_plan
from shardwright.adopt.session import Session, open_session, open_source
from shardwright.adopt.shadow import Shadow, ShadowReport
from shardwright.adopt.steps import Steps, is_marked
from shardwright.errors import ShardwrightError
from shardwright.topology import Directory

_DEFAULT_OPTIONS = AdoptOptions()
_ORDER = (*COPYING, Step.FOLLOW)
_RETRY_S = 1.0
_LOST = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # a server that is being stopped
)


class Adopter:
    """Adopts one database into the shards of one directory.

    It signs in to servers as a superuser and to the old database as the owner of its tables who may replicate, directly
    and not through a transaction pooler.
    """

    def __init__(
        self,
        directory: Directory,
        source_dsn: str,
        *,
        options: AdoptOptions = _DEFAULT_OPTIONS,
        progress: OnProgress = no_progress,
        on_step: OnStep | None = None,
    ) -> None:
        self._directory, self._dsn = directory, source_dsn
        self._options, self._progress, self._on_step = options, progress, on_step

    async def start(self, plan: Plan) -> Adoption:
        """Copy the old database into shards; returns when they follow it."""
        conn = await open_source(self._dsn)
        try:
            check_plan(plan, await read_tables(conn, plan.schema))
        finally:
            await conn.close()
        await begin_adoption(self._directory, plan)
        return await self.resume()

    async def status(self, *, ended: bool = False) -> list[Adoption]:
        """The adoption in progress, or all that ever were."""
        return await read_adoptions(self._directory, ended=ended)

    async def resume(self) -> Adoption:
        """Go on with an adoption that was interrupted, whatever it was doing, and catch up."""
        adoption = await get_adoption(self._directory)
        if adoption.step is Step.ABORT:
            return await self.abort()
        if adoption.step is Step.FINISH:
            return await self.finish()
        async with self._attempt(adoption) as (journal, steps):
            if journal.adoption.step in COPYING:
                await self._copy(journal, steps)
            elif journal.adoption.step in SWITCHING:
                await self._switch(journal, steps)
            elif not _is_final(journal.adoption):
                await steps.follower.catch_up()
            return journal.adoption

    async def follow(self, seconds: float | None = None) -> Adoption:
        """Keep the side up to date that does not own the rows, for so long or until this is cancelled.

        Lets other commands take over, and goes on when they have ended.
        """
        while True:
            adoption = await get_adoption(self._directory)
            _refuse_unless_following(adoption)
            try:
                async with self._attempt(adoption) as (journal, steps):
                    await steps.follower.follow(seconds)
                    return journal.adoption
            except TakenOver:
                await asyncio.sleep(_RETRY_S)

    async def check(self, *, repair: bool = False) -> CheckReport:
        """Compare every row of both sides, by checksums of ranges; differences are shown, and repaired on demand."""
        async with self._following() as (journal, steps):
            checker = Checker(
                steps.session, journal, steps.routes, steps.follower, self._options, self._progress
            )
            return await checker.run(repair=repair)

    async def shadow(self, *, samples: int = 100) -> ShadowReport:
        """Compare what both sides answer to reads of randomly chosen tenants."""
        async with self._following() as (journal, steps):
            shadow = Shadow(
                steps.session, journal, steps.routes, steps.follower, self._options, self._progress
            )
            return await shadow.run(samples)

    async def switch(self) -> Adoption:
        """Make the shards the owner of the rows; the old database follows them from then on."""
        return await self._turn(is_back=False)

    async def back(self) -> Adoption:
        """Make the old database the owner again, with everything that was written since."""
        return await self._turn(is_back=True)

    async def _turn(self, *, is_back: bool) -> Adoption:
        async with self._following() as (journal, steps):
            if journal.adoption.is_switched is not is_back:
                raise AdoptRefused(
                    "the old database owns the rows: there is nothing to return from"
                    if is_back
                    else "the shards own the rows already"
                )
            await steps.follower.catch_up()
            await journal.advance(Step.ARM)
            return await self._switch(journal, steps)

    async def finish(self) -> Adoption:
        """End an adoption whose rows the shards own: the old database no longer follows, and refuses writes."""
        adoption = await get_adoption(self._directory)
        if adoption.step not in {Step.FOLLOW, Step.FINISH} or not adoption.is_switched:
            raise AdoptRefused(
                f"{adoption} is at {adoption.step}, and {adoption.owner} own the rows: switch it first"
            )
        async with self._attempt(adoption) as (journal, steps):
            if journal.adoption.step is Step.FOLLOW:
                await journal.advance(Step.FINISH)
            return await self._end(journal, steps, Step.DONE)

    async def abort(self) -> Adoption:
        """Undo an adoption whose rows the old database owns; nothing is left of it. An interrupted return is undone."""
        adoption = await get_adoption(self._directory)
        if adoption.step not in {*UNDOABLE, Step.ABORT} or (
            adoption.is_switched and adoption.step is Step.FOLLOW
        ):
            raise AdoptRefused(
                f"{adoption} is at {adoption.step}, and {adoption.owner} own the rows: `adopt back` first"
            )
        async with self._attempt(adoption) as (journal, steps):
            if journal.adoption.is_switched:
                await steps.disarm()
                return await journal.advance(Step.FOLLOW)
            if journal.adoption.step is not Step.ABORT:
                await journal.advance(Step.ABORT)
            return await self._end(journal, steps, Step.ABORTED)

    async def _end(self, journal: Journal, steps: Steps, end: Step) -> Adoption:
        self._report(journal.adoption, "begin")
        await steps.clear_away()
        self._report(journal.adoption, "effect")
        return await journal.advance(end)

    async def _copy(self, journal: Journal, steps: Steps) -> None:
        while (step := journal.adoption.step) is not Step.FOLLOW:
            try:
                self._report(journal.adoption, "begin")
                await steps.effects[step]()
                self._report(journal.adoption, "effect")
            except AdoptRefused:
                if step is Step.CHECK:
                    await journal.advance(Step.ABORTED)  # nothing was done yet
                raise
            await journal.advance(_ORDER[_ORDER.index(step) + 1])

    async def _switch(self, journal: Journal, steps: Steps) -> Adoption:
        if journal.adoption.step in {
            Step.FENCE,
            Step.DRAIN,
        }:  # interrupted: nobody but the owner can own the rows
            await steps.give_back()
            await journal.advance(Step.ARM)
        while (step := journal.adoption.step) in SWITCHING:
            try:
                self._report(journal.adoption, "begin")
                await steps.effects[step]()
                self._report(journal.adoption, "effect")
                if step in {Step.FENCE, Step.DRAIN}:
                    await journal.advance(SWITCHING[SWITCHING.index(step) + 1])
            except BaseException as error:
                if journal.adoption.step in {Step.ARM, Step.FENCE, Step.DRAIN}:
                    await asyncio.shield(self._try_give_back(journal, steps, error))
                raise
            if step is Step.UNLINK:
                details = {"may_return": self._options.may_return}
                return await journal.advance(Step.FOLLOW, details, turns=1)
            if step in {Step.ARM, Step.ACTIVATE}:
                await journal.advance(SWITCHING[SWITCHING.index(step) + 1])
        return journal.adoption

    @staticmethod
    async def _try_give_back(journal: Journal, steps: Steps, error: BaseException) -> None:
        """The owner goes on, and the adoption follows it as before."""
        try:
            await steps.disarm()
            await journal.advance(Step.FOLLOW)
        except (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as second:
            error.add_note(
                f"nobody may own the rows until {journal.adoption} is resumed or aborted: {second!r}"
            )

    @asynccontextmanager
    async def _following(self) -> AsyncGenerator[tuple[Journal, Steps]]:
        adoption = await get_adoption(self._directory)
        _refuse_unless_following(adoption)
        async with self._attempt(adoption) as found:
            yield found

    @asynccontextmanager
    async def _attempt(self, adoption: Adoption) -> AsyncGenerator[tuple[Journal, Steps]]:
        """The journal, then both sides locked: whoever had the adoption before can write to neither."""
        shard_map = await self._directory.load()
        journal = await Journal.claim(self._directory, adoption)
        try:
            async with open_session(self._dsn, shard_map, adoption, self._options) as session:
                await journal.refresh()
                if (journal.adoption.step, journal.adoption.turn) != (adoption.step, adoption.turn):
                    raise AdoptRefused(
                        f"another process has led {adoption} to {journal.adoption.step}: try again"
                    )
                yield journal, await self._steps(session, journal)
        except _LOST as error:
            raise AdoptFailed(
                f"a connection was lost during {adoption}: run `shardwright adopt resume` when the old database, all "
                f"servers and the directory answer ({error!r})"
            ) from error
        finally:
            journal.conn.terminate()

    async def _steps(self, session: Session, journal: Journal) -> Steps:
        adoption = journal.adoption
        plan = parse_plan(adoption.plan)
        may_be_unmarked = {Step.CHECK, Step.PREPARE, Step.ABORT, Step.FINISH}
        if adoption.step not in may_be_unmarked and not await is_marked(session.source, adoption):
            raise AdoptRefused(
                f"--from is not the {SOURCE} of {adoption}: give the address that it was started with"
            )
        tables = await read_tables(session.source, plan.schema)
        check_plan(plan, tables, all_tables=False)
        routes = Routes(plan, tables, session.shard_map)
        steps = Steps(self._dsn, session, journal, routes, self._options, self._progress)
        if adoption.is_switched and not _is_final(adoption):
            await steps.become_replica()
        return steps

    def _report(self, adoption: Adoption, phase: Phase) -> None:
        if self._on_step is not None:
            self._on_step(adoption, phase)


def _is_final(adoption: Adoption) -> bool:
    """Whether it was switched for good: the old database does not follow."""
    return adoption.is_switched and not adoption.details.get("may_return", True)


def _refuse_unless_following(adoption: Adoption) -> None:
    if adoption.step is not Step.FOLLOW:
        raise AdoptRefused(f"{adoption} is at {adoption.step}: `shardwright adopt resume` it first")
    if _is_final(adoption):
        raise AdoptRefused(
            f"{adoption} was switched with --no-return, so the old database does not follow: `shardwright adopt "
            "finish` it"
        )
