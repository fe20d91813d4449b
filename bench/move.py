"""What a move of shards costs those who use them: how long writes pause, and how fast rows are copied.

Four clients write to two shards through a router while these move back and forth between two servers; the slowest
write around each change of owner is its pause, and as many stretches without a move are what it is compared with.
Copying is timed from the first step of a move to the last index, against `pg_dump | psql` of the same shards,
interleaved. Everything runs on this machine, which is why client, coordinator and both servers compete for it.
"""

import asyncio
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from bench.harness import BenchResult, Ratio, main, percentile, ratio_of
from shardwright.ids import schema_name
from shardwright.local import LocalServer
from shardwright.local.binaries import find_binaries
from shardwright.moves import Move, MoveOptions, Mover, Step
from shardwright.routing import PoolOptions, Queries, Shards
from shardwright.topology import Directory, guard_tables, open_connection

NAME = "move"
CLIENTS = 4
QUERIES = Queries.parse("""
-- name: add_post
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id;
""")
_SETTINGS = {"autovacuum": "off", "shared_buffers": "128MB", "wal_retrieve_retry_interval": "200ms"}
_OPTIONS = MoveOptions(poll_s=0.05, long_transaction_s=3600)


def run(*, quick: bool = False) -> BenchResult:
    """Measure pauses and copies; the headline is the rate of copying over that of `pg_dump | psql`."""
    changes, rounds, rows = (4, 2, 5_000) if quick else (20, 5, 150_000)
    with tempfile.TemporaryDirectory(prefix="shardwright-bench-") as folder:
        Path(folder).chmod(0o711)  # the account that runs the servers must traverse it
        servers = {name: LocalServer(Path(folder) / name, durable=False, settings=_SETTINGS) for name in "ab"}
        try:
            for server in servers.values():
                server.start()
            pauses, copies = asyncio.run(_measure(servers, changes, rounds, rows))
        finally:
            for server in servers.values():
                server.stop(mode="immediate")
                shutil.rmtree(server.directory, ignore_errors=True)
    detail = {
        "slowest write around a change of owner, ms": describe(pauses.with_move),
        "slowest write of a stretch without a move, ms": describe(pauses.without),
        "from the fence to the flipped map, ms": describe(pauses.fenced),
    }
    for name, row in detail.items():
        print(f"{name}:", ", ".join(f"{key} {value}" for key, value in row.items()))
    return BenchResult(
        name=NAME,
        ratio=copies.median,
        against="pg_dump | psql, copying the same shards",
        spread=(copies.low, copies.high),
        detail=detail,
    )


@dataclass
class Pauses:
    """The slowest write of each stretch, and how long nobody owned the shards, in milliseconds."""

    with_move: list[float] = field(default_factory=list[float])
    without: list[float] = field(default_factory=list[float])
    fenced: list[float] = field(default_factory=list[float])


def describe(times_ms: list[float]) -> dict[str, float]:
    """Median, 90th percentile and maximum."""
    shown = {"p50": percentile(times_ms, 0.5), "p90": percentile(times_ms, 0.9), "max": max(times_ms)}
    return {name: round(value, 1) for name, value in shown.items()}


class Writers:
    """Clients that write without a rest, and remember their slowest write."""

    def __init__(self, shards: Shards, numbers: list[int]) -> None:
        self._shards, self._numbers = shards, numbers
        self._slowest_s = 0.0
        self._tasks = [asyncio.create_task(self._write(client)) for client in range(CLIENTS)]

    def take_slowest_ms(self) -> float:
        """The slowest write since the last call."""
        slowest, self._slowest_s = self._slowest_s, 0.0
        return slowest * 1000

    async def stop(self) -> None:
        """End every client."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _write(self, client: int) -> None:
        shard = self._shards.shard(self._numbers[client % len(self._numbers)])
        while True:
            began_at = time.perf_counter()
            await shard.fetch_value(
                QUERIES.add_post, author_id=client, caption="a caption of ordinary length"
            )
            self._slowest_s = max(self._slowest_s, time.perf_counter() - began_at)


async def _measure(
    servers: dict[str, LocalServer], changes: int, rounds: int, rows: int
) -> tuple[Pauses, Ratio]:
    dsns = {name: server.dsn() for name, server in servers.items()}
    directory = await Directory.open(dsns["a"])
    await directory.create()
    for name, dsn in dsns.items():
        await directory.add_server(name, dsn)

    async def fill(conn: asyncpg.Connection, number: int) -> None:
        await _fill(conn, number, rows)

    shard_map = await directory.add_shards(4, prepare=fill)
    numbers = shard_map.shards_on("b")
    copies = await _copies(directory, dsns, numbers, rounds)
    pauses = await _pauses(directory, dsns["a"], numbers, changes)
    await directory.close()
    return pauses, copies


async def _fill(conn: asyncpg.Connection, number: int, rows: int) -> None:
    schema = schema_name(number)
    await conn.execute(
        f"CREATE TABLE {schema}.posts (id bigint PRIMARY KEY DEFAULT {schema}.next_id(), author_id bigint NOT NULL, "
        f"caption text NOT NULL); CREATE INDEX posts_by_author ON {schema}.posts (author_id); "
        f"INSERT INTO {schema}.posts (author_id, caption) SELECT n, 'a caption of ordinary length' "
        f"FROM generate_series(1, {rows}) n"
    )
    await guard_tables(conn, number)


async def _copies(directory: Directory, dsns: dict[str, str], numbers: list[int], rounds: int) -> Ratio:
    """Our rate over that of `pg_dump | psql`, copying shards from b to a; the copies are dropped each time."""
    ratios: list[float] = []
    for number in range(rounds):
        order = (_time_move, _time_dump) if number % 2 else (_time_dump, _time_move)
        took = {measure: await measure(directory, dsns, numbers) for measure in order}
        ratios.append(took[_time_dump] / took[_time_move])
    return ratio_of(ratios)


async def _time_move(directory: Directory, dsns: dict[str, str], numbers: list[int]) -> float:
    """Seconds until every row is copied and indexed; the shards are moved back then."""
    del dsns
    times: dict[Step, float] = {}

    def note(move: Move, phase: str) -> None:
        del phase
        times.setdefault(move.step, time.perf_counter())

    mover = Mover(directory, options=_OPTIONS, on_step=note)
    move = await mover.start(numbers, "a")
    await mover.back(move.id)
    await mover.finish(move.id)
    return times[Step.CATCH_UP] - times[Step.CREATE]


async def _time_dump(directory: Directory, dsns: dict[str, str], numbers: list[int]) -> float:
    del directory
    took_s = await asyncio.to_thread(_dump_and_restore, dsns, numbers)
    conn = await open_connection(dsns["a"], "a")
    for number in numbers:
        await conn.execute(f"DROP SCHEMA {schema_name(number)} CASCADE")
    await conn.close()
    return took_s


def _dump_and_restore(dsns: dict[str, str], numbers: list[int]) -> float:
    program, schemas = find_binaries().program, [f"--schema={schema_name(number)}" for number in numbers]
    psql = [program("psql"), dsns["a"], "-qX", "-v", "ON_ERROR_STOP=1"]
    began_at = time.perf_counter()
    with subprocess.Popen([program("pg_dump"), dsns["b"], *schemas], stdout=subprocess.PIPE) as dump:
        subprocess.run(psql, stdin=dump.stdout, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began_at


async def _pauses(directory: Directory, dsn: str, numbers: list[int], changes: int) -> Pauses:
    found, times = Pauses(), dict[Step, float]()

    def watch(move: Move, phase: str) -> None:
        if (move.step, phase) == (Step.FENCE, "begin"):
            writers.take_slowest_ms()
        times[move.step] = time.perf_counter()

    mover = Mover(directory, options=_OPTIONS, on_step=watch)
    shards = await Shards.open(dsn, queries=[QUERIES], options=PoolOptions(not_owner_wait_s=30.0))
    writers = Writers(shards, numbers)
    try:
        move: Move | None = None
        for _ in range(changes):
            writers.take_slowest_ms()
            began_at = time.perf_counter()
            move = await (mover.start(numbers, "a") if move is None else mover.back(move.id))
            found.with_move.append(writers.take_slowest_ms())
            found.fenced.append((times[Step.FLIP] - times[Step.FENCE]) * 1000)
            await asyncio.sleep(max(0.5, time.perf_counter() - began_at))
            found.without.append(writers.take_slowest_ms())
    finally:
        await writers.stop()
        await shards.close()
    if move is not None:
        await mover.finish(move.id)
    return found


if __name__ == "__main__":
    main(run, __doc__)
