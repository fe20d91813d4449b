"""The steps of a move. Each can be repeated after an interruption, wherever it was interrupted."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping

import asyncpg

from shardwright.moves import links
from shardwright.moves.diff import Snapshots
from shardwright.moves.errors import MoveFailed
from shardwright.moves.grants import carry_grants
from shardwright.moves.journal import Journal
from shardwright.moves.models import Move, MoveOptions, OnProgress, Step
from shardwright.moves.ownership import carry_sequences, fence, freeze_partitions, own, owned_shards
from shardwright.moves.preflight import check_move
from shardwright.moves.progress import measure
from shardwright.moves.session import Session
from shardwright.moves.structure import (
    check_equal,
    create_copies,
    create_indexes,
    create_partitions,
    drop_partitions,
    missing_partitions,
)
from shardwright.routing import copy_functions
from shardwright.topology import Directory

_NOT_FREE = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError, asyncpg.QueryCanceledError)


class Steps:
    """Carries out the steps of one attempt, over one session."""

    def __init__(  # noqa: PLR0917 - what a step may need
        self,
        directory: Directory,
        journal: Journal,
        session: Session,
        addresses: Mapping[str, str],
        options: MoveOptions,
        progress: OnProgress | None,
    ) -> None:
        self._directory = directory
        self._journal = journal
        self.session = session
        self._addresses = addresses
        self._options = options
        self._progress = progress
        self._marker = 0
        self._snapshots: Snapshots | None = None
        self._details: dict[str, object] = {}
        self.effects: Mapping[Step, Callable[[], Awaitable[None]]] = {
            Step.CHECK: self.check,
            Step.CREATE: self.create,
            Step.LINK: self.link,
            Step.COPY: self.copy,
            Step.INDEX: self.index,
            Step.CATCH_UP: self.catch_up,
            Step.ARM: self.arm,
            Step.FENCE: self.fence,
            Step.DRAIN: self.drain,
            Step.ACTIVATE: self.activate,
            Step.FLIP: self.flip,
            Step.FOLLOW: self.follow,
            Step.VERIFY: self.verify,
        }

    @property
    def _move(self) -> Move:
        return self._journal.move

    def close(self) -> None:
        """Let go of the snapshots."""
        if self._snapshots is not None:
            self._snapshots.close()

    def turn(self) -> None:
        """Exchange source and target, as the journal has."""
        self.session = self.session.turned()

    def take_details(self) -> dict[str, object]:
        """What the step found out, for the journal."""
        found, self._details = self._details, {}
        return found

    async def check(self) -> None:
        """Nothing is in the way of the move."""
        await check_move(self.session, self._move, self._options)

    async def create(self) -> None:
        """The target has the shards, empty and fenced."""
        await create_copies(self.session, self._move, (await self._directory.load()).layout)
        await carry_grants(self.session, self._move)

    async def link(self) -> None:
        """The target copies rows from the source, and applies what is changed."""
        await links.publish(self.session.source, self._move, self._move.link)
        address = self._address(self.session.source_server.name, self.session.source_server.dsn)
        await links.subscribe(self.session.target, self._move.link, address, copy=True)

    async def copy(self) -> None:
        """Every table is copied."""
        while not await self._is_copied():
            await self._follow_partitions()
            await asyncio.sleep(self._options.poll_s)

    async def index(self) -> None:
        """The target has every index."""
        await create_indexes(self.session, self._move)

    async def catch_up(self) -> None:
        """A change takes a moment from the source to the target."""
        while True:
            await self._follow_partitions()
            marker, sent_at = await links.send_marker(self.session.source, self._move.link), time.monotonic()
            while not await links.has_marker(self.session.target, self._move.link, marker):
                await asyncio.sleep(self._options.max_lag_s / 10)
                if time.monotonic() - sent_at > self._options.poll_s:
                    await self._follow_partitions()  # a change of a partition that is missing waits for it
                    await self._is_copied()
            if time.monotonic() - sent_at < self._options.max_lag_s and await self._is_copied():
                return

    async def arm(self) -> None:
        """Changes of the target are kept for the source from now on, and routers' functions are at the target."""
        await links.publish(self.session.target, self._move, self._move.reverse_link)
        await links.create_marker(self.session.source, self._move.reverse_link)
        await carry_grants(self.session, self._move)
        await copy_functions(self.session.source, self.session.target, self._move.shards[0])

    async def fence(self) -> None:
        """The source refuses writes and ids; nobody owns the shards."""
        if self._snapshots is None:
            self._snapshots = await Snapshots.connect(self.session)
        for attempt in range(1, self._options.fence_attempts + 1):
            if await self._try_fence():
                return
            await asyncio.sleep(random.uniform(0.01, 0.05) * min(attempt, 20))  # noqa: S311 - spread, not secrecy
            await self.catch_up()
        raise MoveFailed(
            f"writers of {self._move} did not end within {self._options.lock_timeout_ms} ms, "
            f"{self._options.fence_attempts} times: resume the move when there are no long transactions"
        )

    async def _try_fence(self) -> bool:
        try:
            async with self.session.source.transaction():
                await self.session.source.execute(
                    f"SET LOCAL lock_timeout = '{self._options.lock_timeout_ms}ms'"
                )
                await freeze_partitions(self.session.source, self._move)
                if any(await missing_partitions(self.session, self._move)):
                    return False
                await check_equal(self.session, self._move)
                self._marker = await fence(self.session.source, self._move, self._options)
        except _NOT_FREE:
            return False
        return True

    async def drain(self) -> None:
        """The target has everything, and its ids and sequences go on above those of the source."""
        session, timeout_s = self.session, self._options.drain_timeout_s
        await links.wait_for_marker(session.target, self._move.link, self._marker, timeout_s)
        await carry_sequences(session, self._move)
        if self._snapshots is not None:
            await self._snapshots.pin()

    async def activate(self) -> None:
        """The target owns the shards."""
        if owned := await owned_shards(self.session.source, self._move.shards):
            raise MoveFailed(
                f"server {self.session.source_server.name} accepts writes to shard {owned[0]} again, "
                f"which somebody else must have changed during {self._move}: fence it, then resume the move"
            )
        await own(self.session.target, self._move.shards)

    async def flip(self) -> None:
        """The map says so, and routers are told."""
        await self._directory.set_owner(self._move.target, self._move.shards, self._journal.conn)

    async def follow(self) -> None:
        """The source applies what is changed at the target; nothing is left of the link in the other direction."""
        session, move = self.session, self._move
        await self.unlink(session, move.link)
        address = self._address(session.target_server.name, session.target_server.dsn)
        await links.subscribe(session.source, move.reverse_link, address, copy=False)

    async def verify(self) -> None:
        """The copies were equal when the owner changed; not known if the coordinator was restarted in between."""
        if self._snapshots is None:
            self._details["verified_rows"] = None
            return
        self._details["verified_rows"] = await self._snapshots.compare(self._move)
        self._snapshots.close()
        self._snapshots = None

    @staticmethod
    async def unlink(session: Session, link: str) -> None:
        """Nothing is left of a link from the session's source to its target."""
        left = await links.unsubscribe(session.target, link)
        await links.unpublish(session.source, link)
        if left is not None:
            await links.drop_slots(session.source, left)
        await links.drop_marker(session.source, link)
        await links.drop_marker(session.target, link)

    def _address(self, name: str, dsn: str) -> str:
        return self._addresses.get(name, dsn)

    async def _is_copied(self) -> bool:
        found = await measure(self.session, self._move)
        if self._progress is not None:
            self._progress(found)
        return found.tables_copied == found.tables

    async def _follow_partitions(self) -> None:
        await self._repeat_partitions(self.session, self._move.link)

    async def follow_partitions_back(self) -> None:
        """Repeat at the old copy what partitions were created or dropped at the owner since."""
        await self._repeat_partitions(self.session.turned(), self._move.reverse_link)

    async def _repeat_partitions(self, session: Session, link: str) -> None:
        """Repeat at the session's target what partitions were created or dropped at its source."""
        lacking, extra = await missing_partitions(session, self._move)
        if lacking:
            await create_partitions(session, lacking)
            await links.refresh(session.target, link)
        elif extra:
            # Changes of its rows may still be on their way, and would fail without it.
            marker = await links.send_marker(session.source, link)
            await links.wait_for_marker(session.target, link, marker, self._options.busy_timeout_s)
            await links.refresh(session.target, link)
            await drop_partitions(session, extra)
