"""schema.sql: generated from the replay, stable, runnable, and held equal by a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import asyncpg
import pytest

from shardwright.errors import MigrationRefused
from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.local import LocalServer
from shardwright.migrations import Fact, check_snapshot, lint, snapshot
from shardwright.migrations.catalog import read_facts
from shardwright.migrations.files import Folder
from shardwright.migrations.replay import prepare_scratch, replay, without_library

if TYPE_CHECKING:
    from .conftest import Fleet

EXAMPLE = Path(__file__).with_name("example")
RICH = """
CREATE TABLE "Odd ""names" (id bigint PRIMARY KEY, "select" text COLLATE "C", n numeric(4,2)[] DEFAULT '{}');
CREATE TABLE parents (id bigint PRIMARY KEY, spot point);
CREATE TABLE a_child (extra text, PRIMARY KEY (id)) INHERITS (parents);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE spans AS RANGE (SUBTYPE = float8);
CREATE DOMAIN small AS int DEFAULT 3 NOT NULL CHECK (VALUE < 10);
CREATE TABLE kinds (
    id bigint PRIMARY KEY, p pair, s spans, d small, v int GENERATED ALWAYS AS (id::int + 1) VIRTUAL,
    zipped text COMPRESSION pglz, EXCLUDE USING gist (s WITH &&)
);
CREATE SEQUENCE visits AS integer INCREMENT BY 5 START WITH 10 CYCLE OWNED BY kinds.id;
CREATE UNLOGGED TABLE caches (id bigint PRIMARY KEY);
ALTER TABLE kinds ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, REPLICA IDENTITY FULL;
CREATE POLICY own ON kinds AS RESTRICTIVE FOR UPDATE USING (id > 0) WITH CHECK (id > 1);
CREATE AGGREGATE total(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0');
CREATE MATERIALIZED VIEW best AS SELECT id FROM kinds;
CREATE UNIQUE INDEX best_id ON best (id);
COMMENT ON MATERIALIZED VIEW best IS 'the best';
COMMENT ON FUNCTION total(integer) IS 'a sum';
CREATE FUNCTION here() RETURNS text LANGUAGE sql SET search_path FROM CURRENT AS $$ SELECT 'x' $$;
CREATE TABLE unkeyed (id bigint);
CREATE UNIQUE INDEX unkeyed_id ON unkeyed (id);
ALTER TABLE unkeyed ALTER COLUMN id SET NOT NULL, REPLICA IDENTITY USING INDEX unkeyed_id;
ALTER TABLE kinds ADD CONSTRAINT zipped_set NOT NULL zipped NOT VALID;
"""


def as_lines(facts: Sequence[Fact]) -> list[str]:
    return [f"{fact}: {fact.detail}" for fact in without_library(facts)]


def test_the_example_passes_the_linter() -> None:
    assert lint(EXAMPLE / "migrations") == []


async def test_the_examples_schema_is_the_result_of_its_migrations(
    servers: Mapping[str, LocalServer],
) -> None:
    await check_snapshot(EXAMPLE / "migrations", servers["a"].dsn(), EXAMPLE / "schema.sql")


@pytest.mark.slow
async def test_an_outdated_schema_file_is_refused_with_the_difference(
    servers: Mapping[str, LocalServer], tmp_path: Path
) -> None:
    behind = (EXAMPLE / "schema.sql").read_text().replace("    likes_count integer DEFAULT 0 NOT NULL,\n", "")
    (tmp_path / "schema.sql").write_text(behind)

    with pytest.raises(MigrationRefused, match=r"(?m)^\+    likes_count integer DEFAULT 0 NOT NULL,$"):
        await check_snapshot(EXAMPLE / "migrations", servers["a"].dsn(), tmp_path / "schema.sql")
    with pytest.raises(MigrationRefused, match="regenerate it"):
        await check_snapshot(EXAMPLE / "migrations", servers["a"].dsn(), tmp_path / "missing.sql")


@pytest.mark.slow
async def test_the_text_is_the_same_on_every_server_and_from_every_fleet(
    fleet: Fleet, servers: Mapping[str, LocalServer]
) -> None:
    fleet.put_example()
    expected = (EXAMPLE / "schema.sql").read_text()

    assert await fleet.migrator().snapshot() == expected
    assert await fleet.migrator().snapshot(servers["b"].dsn()) == expected


async def test_the_scratch_database_is_gone_afterwards_even_after_a_failure(
    fleet: Fleet, servers: Mapping[str, LocalServer]
) -> None:
    fleet.put("shard/0001_broken", "SELECT 1 / 0;")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await fleet.migrator().snapshot(servers["a"].dsn())

    query = "SELECT count(*) FROM pg_database WHERE datname LIKE 'shardwright_scratch%'"
    assert await fleet.value(0, query) == 0


@pytest.mark.parametrize("name", ["example", "rich"])
@pytest.mark.slow
async def test_executed_in_an_empty_shard_it_creates_the_same_shard(
    name: str,
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[[LocalServer], Awaitable[str]],
    tmp_path: Path,
) -> None:
    (tmp_path / "shard").mkdir()
    (tmp_path / "shard" / "0001_rich.sql").write_text(RICH)
    folder = Folder.load(EXAMPLE / "migrations" if name == "example" else tmp_path)
    text = await snapshot(folder, servers["a"].dsn())
    expected = await replay(folder, servers["a"].dsn())
    connection = cast("asyncpg.Connection", await asyncpg.connect(await fresh_database(servers["a"])))
    await prepare_scratch(connection, Layout(DEFAULT_EPOCH_MS))
    await connection.execute("SET search_path = s0000, common, shardwright, public")

    await connection.execute(text.partition("-- In every shard.")[2])

    found = (await read_facts(connection, ["s0000"]))["s0000"]
    await connection.close()
    assert as_lines(found) == as_lines(expected["shard"])


@pytest.mark.slow
async def test_fresh_and_stepwise_shards_end_up_alike(fleet: Fleet) -> None:
    fleet.put_example()
    steps = sorted((fleet.folder / "shard").glob("*.sql"))
    texts = {path: path.read_text() for path in steps}
    for path in steps:
        path.unlink()
    for path in steps:
        path.write_text(texts[path])
        await fleet.migrator().apply(shards=[0, 1, 2])

    await fleet.migrator().apply()

    assert (await fleet.migrator().status()).is_up_to_date
