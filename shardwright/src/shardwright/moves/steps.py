"""The steps of a move. Each can be repeated after an interruption, wherever it was interrupted."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import asyncpg

from shardwright.ids import Layout
from shardwright.migrations import Fact
from shardwright.moves import links
from shardwright.moves.completion import collect_statistics, complete_copies
from shardwright.moves.diff import Snapshots
from shardwright.moves.equal_snapshots import pin_equal_snapshots
from shardwright.moves.errors import MoveFailed
from shardwright.moves.grants import carry_grants
from shardwright.moves.journal import Journal
from shardwright.moves.models import Move, MoveOptions, MoveProgress, OnProgress, Step
from shardwright.moves.old_copies import drop_copies
from shardwright.moves.ownership import (
    NOT_FREE,
    carry_sequences,
    fence,
    fence_again,
    freeze_partitions,
    own,
)
from shardwright.moves.parallel import run_while
from shardwright.moves.preflight import check_move
from shardwright.moves.progress import measure
from shardwright.moves.read_fence import close_reads, open_reads, read_usage
from shardwright.moves.row_copy import RowCopy
from shardwright.moves.session import Session
from shardwright.moves.slot_snapshot import SlotSnapshot
from shardwright.moves.structure import (
    check_equal,
    create_copies,
    create_partitions,
    drop_partitions,
    missing_partitions,
)
from shardwright.routing import copy_functions
from shardwright.topology import Directory, owned_numbers

_MEASURE_EVERY_S = 0.5


class Steps:
    """Carries out the steps of one attempt, over one session."""

    def __init__(  # noqa: PLR0917 - what a step may need
        self,
        directory: Directory,
        journal: Journal,
        session: Session,
        layout: Layout,
        addresses: Mapping[str, str],
        options: MoveOptions,
        progress: OnProgress | None,
    ) -> None:
        self._directory = directory
        self._journal = journal
        self.session = session
        self._layout = layout
        self._addresses = addresses
        self._options = options
        self._progress = progress
        self._facts: Mapping[str, Sequence[Fact]] | None = None
        self._read_snapshot: SlotSnapshot | None = None
        self._has_statistics = False
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
        for each in (self._snapshots, self._read_snapshot):
            if each is not None:
                each.close()

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
        """The target has the tables of the shards, empty, without indexes and fenced, for reads too."""
        self._facts = await create_copies(self.session, self._move, self._layout)
        await close_reads(self.session.target, self._move.schemas)

    async def link(self) -> None:
        """The source keeps what is changed from now on, and its rows can be read as they are now."""
        self._read_snapshot = await self._begin_copy()

    async def _begin_copy(self) -> SlotSnapshot:
        if self._facts is None:
            # The attempt that had the snapshot is gone, and what it copied is of no use without it.
            await self.unlink(self.session, self._move.link)
            await drop_copies(self.session.target, self._move.shards)
            await self.create()
        await asyncio.gather(
            links.publish(self.session.source, self._move.schemas, self._move.link),
            links.create_marker(self.session.target, self._move.link),
        )
        return await SlotSnapshot.create(self.session.source_server, self._move.link)

    async def copy(self) -> None:
        """The target has every row of the moment from which on the source keeps changes."""
        self._read_snapshot = self._read_snapshot or await self._begin_copy()
        async with RowCopy(self.session, self._move, self._read_snapshot, self._options) as rows:
            await run_while(rows.run(), lambda: self._measure_copy(rows), _MEASURE_EVERY_S)
            if self._progress is not None:
                await self._measure_copy(rows)
        self._read_snapshot.close()
        self._read_snapshot = None

    async def index(self) -> None:
        """The target has every index and applies what is changed."""
        await complete_copies(self.session, self._move, self._options.index_jobs, self._facts)
        binary = await links.has_built_in_types(self.session.source, self._move.schemas)
        await self._subscribe(self.session, self._move.link, binary=binary)

    async def _subscribe(self, session: Session, link: str, *, binary: bool = False) -> None:
        """Subscribe at the session's target; a partition that its source has and it lacks would be refused."""
        server = session.source_server
        address = self._addresses.get(server.name, server.dsn)
        while not await links.is_subscribed(session.target, link):
            lacking, _ = await missing_partitions(session, self._move)
            await create_partitions(session, lacking)
            try:
                await links.subscribe(session.target, link, address, binary=binary)
            except asyncpg.UndefinedTableError:
                await self._expect_missing_partitions(session)

    async def catch_up(self) -> None:
        """A change takes a moment from the source to the target, whose tables have statistics."""
        if not self._has_statistics and not self._move.turn:  # an old copy has those of its time as the owner
            await collect_statistics(self.session, self._move, self._options.index_jobs)
            self._has_statistics = True
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
        await links.publish(self.session.target, self._move.schemas, self._move.reverse_link)
        await links.keep_changes(self.session.target, self._move.reverse_link)
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
        except NOT_FREE:
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
        """The target owns the shards, and those who may read the source may read it."""
        if owned := await owned_numbers(self.session.source, self._move.shards):
            raise MoveFailed(
                f"server {self.session.source_server.name} accepts writes to shard {owned[0]} again, "
                f"which somebody else must have changed during {self._move}: fence it, then resume the move"
            )
        usage = await read_usage(self.session.source, self._move.schemas)
        async with self.session.target.transaction():
            await open_reads(self.session.target, usage)
            await own(self.session.target, self._move.shards)

    async def flip(self) -> None:
        """The source cannot be read any more; the map names the target, and routers are told.

        In this order: nobody writes at the target before the map names it, so no read of the old copy misses a write.
        Reads wait in between, for the time of one commit.
        """
        await close_reads(self.session.source, self._move.schemas)
        await self._directory.set_owner(self._move.target, self._move.shards, self._journal.conn)

    async def follow(self) -> None:
        """The source applies what is changed at the target; nothing is left of the link in the other direction."""
        session, move = self.session, self._move
        await fence_again(session.source, move)
        await self.unlink(session, move.link)
        await self._subscribe(session.turned(), move.reverse_link)

    async def verify(self) -> None:
        """The copies were equal when the owner changed, or are now if the coordinator was restarted in between."""
        if self._snapshots is None:
            self._snapshots = await pin_equal_snapshots(
                self.session, self._move, self._options, self.follow_partitions_back
            )
        self._details["verified_rows"] = await self._snapshots.compare(self._move)
        self._snapshots.close()
        self._snapshots = None

    @staticmethod
    async def unlink(session: Session, link: str) -> None:
        """Nothing is left of a link from the session's source to its target."""
        await links.end_subscriber(session.target, link)
        await links.end_publisher(session.source, link)
        await links.drop_copy_slots(session.source, session.target)

    async def _is_copied(self) -> bool:
        """Whether new partitions are copied as well."""
        found = await measure(self.session, self._move)
        self._show(found)
        return found.tables_copied == found.tables

    async def _measure_copy(self, rows: RowCopy) -> None:
        self._show(await measure(await rows.watching(), self._move, rows.copied))

    def _show(self, found: MoveProgress) -> None:
        if self._progress is not None:
            self._progress(found)

    async def _follow_partitions(self) -> None:
        await self._repeat_partitions(self.session, self._move.link)

    async def _expect_missing_partitions(self, session: Session) -> None:
        """Return when partitions are why a table was not found at the session's target; raise when it is another."""
        lacking, _ = await missing_partitions(session, self._move)
        if not lacking:
            await check_equal(session, self._move)
            raise MoveFailed(f"a table of {self._move} came and went: resume the move")

    async def tend_old_copy(self) -> None:
        """The old copy has the partitions of the owner, and can be neither written nor read."""
        await fence_again(self.session.source, self._move)
        if await links.lag_bytes(self.session.target, self._move.reverse_link) is None:
            raise MoveFailed(
                f"the old copies of {self._move} do not follow any more: server {self._move.target} has removed WAL "
                f"that they need, or was replaced by a replica. Drop them: `shardwright move finish {self._move.id}`"
            )
        await self.follow_partitions_back()
        await close_reads(self.session.source, self._move.schemas)

    async def follow_partitions_back(self) -> None:
        """Repeat at the old copy what partitions were created or dropped at the owner since."""
        await self._repeat_partitions(self.session.turned(), self._move.reverse_link)

    async def _repeat_partitions(self, session: Session, link: str) -> None:
        """Repeat at the session's target what partitions were created or dropped at its source."""
        while True:
            lacking, extra = await missing_partitions(session, self._move)
            await create_partitions(session, lacking)
            passed_over = [each.table for each in extra]
            if not await links.lacks_tables(session.target, link, self._move.schemas, passed_over):
                break
            try:
                await links.refresh(session.target, link)
            except asyncpg.UndefinedTableError:
                await self._expect_missing_partitions(session)
        await links.relax(session.target, link)
        if extra:
            # Changes of its rows may still be on their way, and would fail without it.
            marker = await links.send_marker(session.source, link)
            await links.wait_for_marker(session.target, link, marker, self._options.busy_timeout_s)
            await links.refresh(session.target, link)
            await drop_partitions(session, extra)
