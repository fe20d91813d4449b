"""Three servers that may crash (two with shards, one with the directory) and the network between them, under load."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import asyncpg
from move_test_coordinator import Coordinators, Errand, Outcome, Strike
from move_test_load import QUICK, SHARDS, Load, make_tables, read_copies, remove_links
from move_test_network import Proxy
from move_test_owners import OwnerWatch, owners_of
from move_test_points import Point

from shardwright.local import LocalServer
from shardwright.moves import Move, Mover, Step, find_leftovers
from shardwright.topology import Directory, fetch_rows, open_connection

TEMPLATE = "template_faults"
DIRECTORY = "c"
SERVERS = ("a", "b", DIRECTORY)
COORDINATOR = "coordinator"
FAULTS = (
    COORDINATOR,
    "source",
    "target",
    "directory",
    "cut_source",
    "cut_target",
    "cut_directory",
    "cut_links",
)
"""Who is killed, or which way is cut: between the coordinator and a server, or between the servers of the move."""
_ENOUGH_WRITES = 10
_REMAINS = """\
SELECT 'subscription ' || subname FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
WHERE d.datname = current_database()
UNION ALL SELECT 'publication ' || pubname FROM pg_publication
UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots WHERE database = current_database()
UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname = 'shardwright_moves'
UNION ALL SELECT 'origin ' || roname FROM pg_replication_origin o
WHERE NOT EXISTS (SELECT FROM pg_subscription s WHERE o.roname ~ ('^pg_' || s.oid || '(_[0-9]+)?$'))
UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts WHERE database = current_database()
"""


async def build_template(servers: Mapping[str, LocalServer]) -> None:
    """A database on each server, with four shards that have rows and their directory."""
    for server in servers.values():
        await _run(server.dsn(), f"CREATE DATABASE {TEMPLATE} STRATEGY file_copy")
    directory = await Directory.open(servers[DIRECTORY].dsn(TEMPLATE))
    await directory.create()
    for name in SERVERS:
        if name != DIRECTORY:
            await directory.add_server(name, servers[name].dsn(TEMPLATE))
    await directory.add_shards(4, prepare=make_tables)
    await directory.close()


@dataclass
class Site:
    """Databases of one test on those servers, with a load on two shards and a coordinator that can be interrupted."""

    servers: Mapping[str, LocalServer]
    coordinators: Coordinators
    database: str
    down: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        every = {name: server.dsn(self.database) for name, server in self.servers.items()}
        self.directory_dsn = every.pop(DIRECTORY)
        self.dsns = every
        self.ways = {name: Proxy(self.servers[name].dsn(self.database)) for name in SERVERS}
        self.links = {name: Proxy(dsn) for name, dsn in self.dsns.items()}
        self.load = Load(self.dsns, self.directory_dsn, pause_s=0.02)
        self.watch = OwnerWatch(self.dsns, SHARDS)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator["Site"]:
        """Make the databases and start everything; whatever is left of them is removed afterwards."""
        for server in self.servers.values():
            await _run(
                server.dsn(), f"CREATE DATABASE {self.database} TEMPLATE {TEMPLATE} STRATEGY file_copy"
            )
        try:
            for name, dsn in self.dsns.items():
                sql = f"UPDATE shardwright_directory.servers SET dsn = '{dsn}' WHERE name = '{name}'"
                await _run(self.directory_dsn, sql)
            self._errand = Errand(
                await self.ways[DIRECTORY].start(),
                "resume",
                shards=SHARDS,
                dsns={name: await self.ways[name].start() for name in self.dsns},
                addresses={name: await proxy.start() for name, proxy in self.links.items()},
                drain_timeout_s=2.0,
            )
            self.directory = await Directory.open(self.directory_dsn)
            self.mover = Mover(self.directory, options=QUICK)
            await self.load.start()
            self.watch.start()
            yield self
        finally:
            await self._close()

    async def _close(self) -> None:
        await self.mend()
        await self.watch.stop()
        if not self.load.is_over:
            await self.load.abandon()
        for proxy in (*self.ways.values(), *self.links.values()):
            await proxy.stop()
        await self.directory.close()
        await remove_links(self.dsns)
        for server in self.servers.values():
            await _run(server.dsn(), f"DROP DATABASE {self.database} WITH (FORCE)")

    async def move(self) -> Move | None:
        """The move under way."""
        moves = await self.mover.moves()
        return moves[0] if moves else None

    async def run(self, verb: str) -> Outcome:
        """Run a coordinator to its end, undisturbed."""
        return await self.coordinators.run(await self._to_do(verb))

    async def stop(self, verb: str, point: Point, strike: Strike, statement: int = 0) -> Outcome:
        """Run a coordinator that stops at a point, or before a statement of its step, for the time of `strike`."""
        errand = await self._to_do(
            verb, step=str(point.step), phase=point.phase, statement=statement, is_killed=False
        )
        return await self.coordinators.run(errand, strike)

    async def kill(self, verb: str, point: Point, statement: int = 0) -> bool:
        """Run a coordinator that dies at a point, or before a statement of its step; returns whether it got there."""
        errand = await self._to_do(verb, step=str(point.step), phase=point.phase, statement=statement)
        outcome = await self.coordinators.run(errand)
        assert outcome.is_killed or outcome.exit_code == 0, outcome.error
        return outcome.is_killed

    async def interrupt(self, point: Point, fault: str, statement: int = 0) -> bool:
        """Let a fault happen at a point of a move, then mend it; returns whether the point was reached.

        Nothing else is done about the move.
        """
        verb = await self.reach(point)
        if fault == COORDINATOR:
            return await self.kill(verb, point, statement)
        struck: list[asyncio.Task[None] | None] = []

        async def strike(source: str, target: str) -> None:
            await self.strike(fault, source, target)
            # Where servers cannot reach each other, the coordinator may wait for that.
            struck.append(asyncio.create_task(self._heal_links()) if fault == "cut_links" else None)

        outcome = await self.stop(verb, point, strike, statement)
        for task in struck:
            if task is not None:
                task.cancel()
        assert outcome.exit_code == 0 or (struck and outcome.is_expected), outcome.error
        await self.mend()
        return bool(struck)

    async def strike(self, fault: str, source: str, target: str) -> None:
        """Kill a server of the move, or cut a way."""
        way, _, name = fault.rpartition("_")
        if name == "links":
            for proxy in self.links.values():
                proxy.cut()
            return
        server = {"source": source, "target": target, "directory": DIRECTORY}[name]
        if way:
            self.ways[server].cut()
        else:
            self.down.add(server)
            await asyncio.to_thread(self.servers[server].crash)

    async def _heal_links(self) -> None:
        try:
            await self.load.wait_for_writes(_ENOUGH_WRITES)
        finally:
            for proxy in self.links.values():
                proxy.heal()

    async def mend(self) -> None:
        """Start the servers that were killed, and make every way passable."""
        for name in self.down:
            await asyncio.to_thread(self.servers[name].start)
        self.down.clear()
        for proxy in (*self.ways.values(), *self.links.values()):
            proxy.heal()

    async def reach(self, point: Point) -> str:
        """Bring the shards into a state from which a verb leads to the point; returns the verb."""
        move = await self.move()
        if point.action in {"back", "keep", "finish"} and (
            move is None or (point.action == "keep" and move.step is not Step.KEEP)
        ):
            verb = "start" if move is None else "resume"
            outcome = await self.run(verb)
            assert outcome.exit_code == 0, outcome.error
            move = await self.move()
        if point.action == "start" and move is not None and move.step is Step.KEEP:
            await self.mover.finish(move.id)
            move = None
        if point.action == "abort":
            if move is None or move.step is Step.KEEP:
                armed = Point("start", Step.ARM, "effect")
                assert await self.kill("start" if move is None else "back", armed)
            return "abort"
        if point.action == "keep":
            await self.load.add_day()
            return "resume"
        if move is None or move.step is Step.KEEP:
            return point.action
        return "resume"

    async def _to_do(self, verb: str, **changes: Any) -> Errand:
        owner = (await self.directory.load()).owners[SHARDS[0]]
        (other,) = set(self.dsns) - {owner}
        return replace(self._errand, verb=verb, target=other, **changes)

    async def check_owners(self) -> None:
        """At most one server owns each shard, now and whenever somebody looked."""
        for number in SHARDS:
            assert len(await owners_of(self.dsns, number)) <= 1
        assert self.watch.shared == []

    async def check_end(self) -> None:
        """The move has ended well: everything acknowledged is there once, copies are equal, nothing is left over."""
        await self.load.wait_for_writes(_ENOUGH_WRITES)
        await self.load.add_day()
        await self.load.wait_for_writes(_ENOUGH_WRITES)
        move = await self.move()
        if move is not None:
            move = await self.mover.resume(move.id)
        await self.load.stop()
        if move is not None:
            assert move.step is Step.KEEP
            assert move.details["verified_rows"] > 1000
            await self._wait_for_equal_copies()
            await self.mover.finish(move.id)
        await self.load.check()
        await self.check_owners()
        assert self.watch.looks > 0
        (owner,) = {name for number in SHARDS for name in await owners_of(self.dsns, number)}
        assert {(await self.directory.load()).owners[number] for number in SHARDS} == {owner}
        assert [name for name, tables in (await read_copies(self.dsns)).items() if tables] == [owner]
        assert await find_leftovers(self.directory) == []
        assert await self._remains() == []

    async def _wait_for_equal_copies(self) -> None:
        async with asyncio.timeout(60):
            while True:
                copies = list((await read_copies(self.dsns)).values())
                if copies[0] == copies[1]:
                    return
                await asyncio.sleep(0.05)

    async def _remains(self) -> Sequence[str]:
        found: list[str] = []
        for name, dsn in self.dsns.items():
            conn = await open_connection(dsn, name)
            found += [f"{row[0]} on {name}" for row in await fetch_rows(conn, _REMAINS)]
            await conn.close()
        return found


async def _run(dsn: str, sql: str) -> None:
    conn = cast("asyncpg.Connection", await asyncpg.connect(dsn))
    try:
        await conn.execute(sql)
    finally:
        await conn.close()
