"""The steps of an adoption. Each can be repeated after an interruption, wherever it was interrupted."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from shardwright.adopt import fences
from shardwright.adopt.copier import Copier
from shardwright.adopt.errors import AdoptFailed
from shardwright.adopt.fences import SideName
from shardwright.adopt.follower import Follower, published_tables, shard_streams, source_stream
from shardwright.adopt.gather_all import gather_all
from shardwright.adopt.journal import Journal, Position
from shardwright.adopt.models import SOURCE, Adoption, AdoptOptions, OnProgress, Step
from shardwright.adopt.preflight import check_return, check_start
from shardwright.adopt.routes import Routes
from shardwright.adopt.sequences import SharedSequences, find_shared_sequences
from shardwright.adopt.session import Session
from shardwright.adopt.snapshots import Snapshots
from shardwright.adopt.streams import SCHEMA, Stream, parse_lsn
from shardwright.topology import fetch_rows, fetch_value

if TYPE_CHECKING:
    from asyncpg import Connection

_LAST_LOOKS = 3
_MARK = f"{SCHEMA}.adopting"
"""The table of the old database that names its adoption, so that no other database is taken for it."""
_DROP_SCHEMA = f"""\
SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('{SCHEMA}') AND relkind = 'r'
UNION ALL SELECT count(*) FROM pg_proc WHERE pronamespace = to_regnamespace('{SCHEMA}')
"""


class Steps:
    """Carries out the steps of one attempt, over one session."""

    def __init__(  # noqa: PLR0917 - what a step may need
        self,
        dsn: str,
        session: Session,
        journal: Journal,
        routes: Routes,
        options: AdoptOptions,
        progress: OnProgress,
    ) -> None:
        self._dsn, self.session, self._journal, self.routes = dsn, session, journal, routes
        self._options, self._progress = options, progress
        self._follower: Follower | None = None
        self._markers: Mapping[str, int] = {}
        self._fenced_at = 0.0
        self._sequences: SharedSequences | None = None
        self.effects: Mapping[Step, Callable[[], Awaitable[None]]] = {
            Step.CHECK: self.check,
            Step.PREPARE: self.prepare,
            Step.COPY: self.copy,
            Step.ARM: self.arm,
            Step.FENCE: self.fence,
            Step.DRAIN: self.drain,
            Step.ACTIVATE: self.activate,
            Step.UNLINK: self.unlink,
        }

    @property
    def follower(self) -> Follower:
        """Follows the owner of the current turn; to be asked for when everything is copied."""
        if self._follower is None:
            self._follower = Follower(self.session, self._journal, self.routes, self._options, self._progress)
        return self._follower

    async def become_replica(self) -> None:
        """Let this process write to the old database without its triggers, where the shards own the rows."""
        await self.session.source.execute("SET session_replication_role = replica")

    async def check(self) -> None:
        """Nothing is in the way of the adoption."""
        await check_start(self.session, self.routes)

    async def prepare(self) -> None:
        """Shards refuse writes to the adopted tables, and the old database keeps its changes."""
        for name, conn in self.session.servers.items():
            await fences.attach(conn, "shards", self._tables("shards", name), self._options, is_open=False)
            await conn.execute(fences.fence_sql("shards", is_open=False))
        await self.session.source.execute(
            f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}; CREATE TABLE IF NOT EXISTS {_MARK} (name text PRIMARY KEY); "
            f"INSERT INTO {_MARK} VALUES ('{self._journal.adoption.name}') ON CONFLICT DO NOTHING"
        )
        await self._source_stream().create(self._tables("old", SOURCE))

    async def copy(self) -> None:
        """Every row is at its place, and what was changed meanwhile as well."""
        await Copier(self._dsn, self.session, self._journal, self.routes, self._options, self._progress).run()
        self._follower = None  # it has to know the snapshots
        await self.follower.catch_up()

    async def arm(self) -> None:
        """The next owner keeps its changes for the other side from now on, which has a fence that is open."""
        if self._journal.adoption.is_switched:
            await self._source_stream().create(self._tables("old", SOURCE))
        else:
            if self._options.may_return:
                await check_return(self.session, self.routes)
                for name, stream in self._shard_streams().items():
                    await stream.create(published_tables(self.session, self.routes, name))
            await fences.attach(
                self.session.source, "old", self._tables("old", SOURCE), self._options, is_open=True
            )
        await self.follower.settle()

    async def fence(self) -> None:
        """The owner refuses writes; nobody owns the rows."""
        is_back = self._journal.adoption.is_switched
        self._sequences = await find_shared_sequences(self.session, self.routes, is_back=is_back)
        for attempt in range(1, self._options.fence_attempts + 1):
            # Each look takes less time than the one before: writers wait for the rest.
            for _ in range(_LAST_LOOKS):
                await self.follower.step(lets_go=False)
            streams = self.follower.streams
            markers = {name: await stream.reserve_marker() for name, stream in streams.items()}
            started_at = time.monotonic()
            if await self._try_fence(markers):
                self._fenced_at = started_at
                return
            await self.give_back()
            await fences.pause(attempt)
            await self.follower.settle()
        raise AdoptFailed(
            f"writers did not end within {self._options.lock_timeout_ms} ms, {self._options.fence_attempts} times: "
            "resume the adoption when there are no long transactions"
        )

    async def _try_fence(self, markers: Mapping[str, int]) -> bool:
        side = self._side(is_next=False)
        try:
            await gather_all(
                fences.close_fence(
                    conn,
                    side,
                    self._tables(side, name),
                    self._options,
                    self.follower.streams[name].marker_sql(markers[name]),
                )
                for name, conn in self._conns(side).items()
            )
        except fences.NOT_FREE:
            return False
        self._markers = markers
        return True

    async def give_back(self) -> None:
        """The owner of this turn accepts writes again."""
        side = self._side(is_next=False)
        for conn in self._conns(side).values():
            if not await fences.is_open(conn, side):
                await conn.execute(fences.fence_sql(side, is_open=True))

    async def disarm(self) -> None:
        """The owner of this turn accepts writes again, and nothing is kept for its return."""
        await self.give_back()
        for stream in self._streams(is_next=True).values():
            await stream.drop()

    async def drain(self) -> None:
        """The next owner has everything, and its sequences go on above those of the other."""
        await self.follower.drain(self._markers, self._options.drain_timeout_s, lets_go=False)
        if self._sequences is not None:
            await self._sequences.carry()
        # What the streams of the next owner contain so far is what was applied to it.
        streams = self._next_streams()
        ends = await gather_all(
            fetch_value(stream.conn, "SELECT pg_current_wal_insert_lsn()::text")
            for stream in streams.values()
        )
        lsns = [parse_lsn(end) for end in ends]
        self._journal.defer_streams(
            {name: Position(lsn, lsn) for name, lsn in zip(streams, lsns, strict=True)}
        )

    async def activate(self) -> None:
        """The next owner accepts writes."""
        side = self._side(is_next=True)
        opening = fences.fence_sql(side, is_open=True)
        await gather_all(conn.execute(opening) for conn in self._conns(side).values())
        if self._fenced_at:
            fence_ms = round((time.monotonic() - self._fenced_at) * 1000, 1)
            await self._journal.note({"fence_ms": fence_ms})

    async def unlink(self) -> None:
        """Nothing is left of the stream in the other direction."""
        for stream in self._streams(is_next=False).values():
            await stream.drop()
        self._follower = None

    async def clear_away(self) -> None:
        """Nothing of the adoption is left in shards or in the old database, but the rows of its owner."""
        if not self._journal.adoption.is_switched:
            await self.give_back()
        for stream in [self._source_stream(), *self._shard_streams().values()]:
            await stream.drop()
        if not self._journal.adoption.is_switched:
            _, shards = self.session.sides(self.routes)
            for name in self.routes.tables:
                await shards.empty(name)
            await fences.detach(self.session.source, "old", self._tables("old", SOURCE), self._options)
        await self.session.source.execute(f"DROP TABLE IF EXISTS {_MARK}")
        for name, conn in self.session.servers.items():
            await fences.detach(conn, "shards", self._tables("shards", name), self._options)
        for conn in [self.session.source, *self.session.servers.values()]:
            await _drop_schema(conn)

    def _source_stream(self) -> Stream:
        return source_stream(self.session, self._journal.adoption, self.routes, Snapshots({}))

    def _shard_streams(self) -> dict[str, Stream]:
        return shard_streams(self.session, self._journal.adoption, self.routes)

    def _streams(self, *, is_next: bool) -> dict[str, Stream]:
        """The streams of the owner, or of the next one."""
        if self._journal.adoption.is_switched is not is_next:
            return self._shard_streams()
        return {SOURCE: self._source_stream()}

    def _next_streams(self) -> dict[str, Stream]:
        if not self._options.may_return and not self._journal.adoption.is_switched:
            return {}
        return self._streams(is_next=True)

    def _side(self, *, is_next: bool) -> SideName:
        return "shards" if self._journal.adoption.is_switched is not is_next else "old"

    def _conns(self, side: SideName) -> "Mapping[str, Connection]":
        return {SOURCE: self.session.source} if side == "old" else self.session.servers

    def _tables(self, side: SideName, server: str) -> Sequence[str]:
        """The adopted tables of a database, parents first."""
        old, shards = self.session.sides(self.routes)
        places = (old if side == "old" else shards).places
        names = [*self.routes.plan.lookups, *self.routes.by_table]
        return [place.table(name) for name in names for place in places[name] if place.server == server]


async def is_marked(conn: "Connection", adoption: Adoption) -> bool:
    """Whether this is the old database of an adoption."""
    if not await fetch_value(conn, f"SELECT to_regclass('{_MARK}') IS NOT NULL"):
        return False
    return await fetch_value(conn, f"SELECT EXISTS (SELECT FROM {_MARK} WHERE name = $1)", adoption.name)


async def _drop_schema(conn: "Connection") -> None:
    counts = await fetch_rows(conn, _DROP_SCHEMA)
    if all(row[0] == 0 for row in counts):
        await conn.execute(f"DROP SCHEMA IF EXISTS {SCHEMA}")
