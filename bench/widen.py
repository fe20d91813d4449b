"""How long writers wait while integer keys become bigint: the recipe by hand over `shardwright widen`.

Three tables with foreign keys, 200 transactions a second by four clients that insert into all three. Rounds without a
change, with `ALTER COLUMN … TYPE bigint` in one transaction, with the recipe of articles (`widen_recipes.py`) and with
`shardwright widen` take turns, each on tables of its own. Printed are the longest time for which tables were locked,
how long transactions waited, and how many had to be repeated. The headline is the longest wait of a transaction with
the recipe over the longest with ours; a transaction that fails for good ends the bench.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import asyncpg

from bench.harness import BenchResult, Rounds, main, percentile
from bench.widen_recipes import widen_by_hand, widen_in_place
from shardwright.local import LocalServer
from shardwright.widen import Widener, WidenOptions

NAME = "widen"
CLIENTS, RATE = 4, 200
PEOPLE = 2_000
TABLES = """
CREATE SCHEMA {schema}; SET search_path = {schema};
CREATE TABLE people (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE posts (id serial PRIMARY KEY, person_id integer NOT NULL REFERENCES people, body text);
CREATE INDEX ON posts (person_id);
CREATE TABLE likes (post_id integer REFERENCES posts, person_id integer REFERENCES people,
  PRIMARY KEY (post_id, person_id));
CREATE INDEX ON likes (person_id);
INSERT INTO people (name) SELECT 'p' || n FROM generate_series(1, {people}) n;
INSERT INTO posts (person_id, body) SELECT 1 + n % {people}, repeat('x', 100) FROM generate_series(1, {posts}) n;
INSERT INTO likes SELECT n, 1 + n % {people} FROM generate_series(1, {posts}) n;
"""
RETRIES = 3
_PASSING = (asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError, asyncpg.InvalidCachedStatementError)
Change = Callable[[str, str], Awaitable[float]]
"""Widens the keys of a schema; returns for how long tables were locked at most, in milliseconds."""


@dataclass
class Outcome:
    """What the clients of one round saw."""

    took_s: list[float] = field(default_factory=list[float])
    repeated: int = 0
    locked_ms: float = 0.0
    seconds: float = 0.0

    @property
    def longest_ms(self) -> float:
        """The longest that a transaction took, with its repetitions."""
        return max(self.took_s) * 1_000


def run(*, quick: bool = False) -> BenchResult:
    """Measure with alternating rounds."""
    rounds, posts = (2, 200_000) if quick else (5, 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        settings = {"shared_buffers": "256MB", "max_wal_size": "4GB"}
        server = LocalServer(Path(folder) / "server", settings=settings)
        server.start()
        try:
            return asyncio.run(_run(server.dsn(), rounds, posts))
        finally:
            server.stop(mode="immediate")


async def _run(dsn: str, rounds: int, posts: int) -> BenchResult:
    changes: dict[str, Change] = {
        "nothing": _nothing,
        "in place": widen_in_place,
        "by hand": widen_by_hand,
        "ours": _widen,
    }
    outcomes: dict[str, list[Outcome]] = {name: [] for name in changes}
    for number in range(rounds):
        for name, change in changes.items():
            schema = f"round_{number}_{name.replace(' ', '_')}"
            outcomes[name].append(await _measure(dsn, schema, posts, change))
    return _result(outcomes)


def _result(outcomes: dict[str, list[Outcome]]) -> BenchResult:
    detail: dict[str, object] = {}
    for name, found in outcomes.items():
        detail[name] = row = {
            "longest_lock_ms": round(statistics.median(each.locked_ms for each in found), 1),
            "worst_lock_ms": round(max(each.locked_ms for each in found), 1),
            "longest_wait_ms": round(statistics.median(each.longest_ms for each in found), 1),
            "p99_ms": round(statistics.median(percentile(each.took_s, 0.99) for each in found) * 1_000, 1),
            "repeated": sum(each.repeated for each in found),
            "writes_per_s": round(
                sum(len(each.took_s) for each in found) / sum(each.seconds for each in found)
            ),
        }
        print(f"{name}: {', '.join(f'{key} {value}' for key, value in row.items())}")
    waits = {name: [1 / each.longest_ms for each in found] for name, found in outcomes.items()}
    headline = Rounds(waits).ratio("ours", "by hand")
    return BenchResult(
        NAME, headline.median, "the recipe by hand (longest wait)", (headline.low, headline.high), detail
    )


async def _measure(dsn: str, schema: str, posts: int, change: Change) -> Outcome:
    admin = cast("Any", await asyncpg.connect(dsn))
    await admin.execute(TABLES.format(schema=schema, people=PEOPLE, posts=posts))
    await admin.execute("VACUUM ANALYZE")
    outcome = Outcome()
    is_over = asyncio.Event()
    writers = [asyncio.create_task(_write(dsn, schema, outcome, is_over)) for _ in range(CLIENTS)]
    began_at = time.monotonic()
    outcome.locked_ms = await change(dsn, schema)
    outcome.seconds = time.monotonic() - began_at
    is_over.set()
    await asyncio.gather(*writers)
    await admin.execute(f"DROP SCHEMA {schema} CASCADE")
    await admin.close()
    return outcome


async def _write(dsn: str, schema: str, outcome: Outcome, is_over: asyncio.Event) -> None:
    settings = {"search_path": schema}
    conn = cast("Any", await asyncpg.connect(dsn, server_settings=settings, statement_cache_size=0))
    due_at = time.monotonic()
    while not is_over.is_set():
        due_at = max(due_at + CLIENTS / RATE, time.monotonic() - 1)
        await asyncio.sleep(max(0.0, due_at - time.monotonic()))
        began_at = time.monotonic()
        for attempt in range(RETRIES + 1):
            try:
                await _insert(conn)
                break
            except _PASSING:
                if attempt == RETRIES:
                    raise
                outcome.repeated += 1
        outcome.took_s.append(time.monotonic() - began_at)
    await conn.close()


async def _insert(conn: Any) -> None:
    async with conn.transaction():
        person = await conn.fetchval("INSERT INTO people (name) VALUES ('new') RETURNING id")
        post = await conn.fetchval("INSERT INTO posts (person_id) VALUES ($1) RETURNING id", person)
        await conn.execute("INSERT INTO likes (post_id, person_id) VALUES ($1, $2)", post, person)


async def _nothing(_dsn: str, _schema: str) -> float:
    await asyncio.sleep(5)
    return 0.0


async def _widen(dsn: str, schema: str) -> float:
    widener = Widener(dsn, schema, options=WidenOptions(duty=0.8))
    await widener.prepare(["people.id", "posts.id"])
    await widener.swap()
    await widener.finish()
    return widener.longest_lock_ms


if __name__ == "__main__":
    main(run, __doc__)
