"""Widening in every shard, and the command."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import asyncpg
import pytest
from typer.testing import CliRunner

from shardwright.cli.app import app
from shardwright.migrations import LOCK_CLASS
from shardwright.topology import Directory
from shardwright.widen import ShardWidener, WidenFailed, WidenOptions

PreparedDirectory = Callable[..., Awaitable[dict[str, str]]]
QUICK = WidenOptions(batch_ms=50, duty=1.0)
TYPES = """
SELECT table_schema, string_agg(DISTINCT data_type, ',') AS types FROM information_schema.columns
WHERE table_schema LIKE 's0%' AND (table_name, column_name) IN (('albums', 'id'), ('pictures', 'album_id'))
GROUP BY 1 ORDER BY 1
"""


async def make_albums(conn: asyncpg.Connection, number: int) -> None:
    schema = f"s{number:04}"
    await conn.execute(
        f"CREATE TABLE {schema}.albums (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text);"
        f"CREATE TABLE {schema}.pictures (id bigint PRIMARY KEY, album_id integer REFERENCES {schema}.albums);"
        f"INSERT INTO {schema}.albums (title) SELECT 'a' || n FROM generate_series(1, 200) n;"
        f"INSERT INTO {schema}.pictures SELECT n, 1 + n % 200 FROM generate_series(1, 400) n"
    )


@pytest.fixture
async def dsns(prepared_directory: PreparedDirectory) -> dict[str, str]:
    return await prepared_directory(4, make_albums)


async def types(dsns: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for dsn in dsns.values():
        conn = cast("Any", await asyncpg.connect(dsn))
        found |= {row["table_schema"]: row["types"] for row in await conn.fetch(TYPES)}
        await conn.close()
    return found


async def test_every_shard_on_both_servers(dsns: dict[str, str]) -> None:
    directory = await Directory.open(dsns["a"])
    widener = ShardWidener(await directory.load(), options=QUICK)

    assert [str(each) for each in await widener.plan(["albums.id"])] == [
        "s0000.albums.id",
        "s0000.pictures.album_id",
    ]
    await widener.prepare(["albums.id"])
    assert set(await types(dsns)) == {"s0000", "s0001", "s0002", "s0003"}
    await widener.swap()
    await widener.finish()

    assert set((await types(dsns)).values()) == {"bigint"}
    assert set((await widener.status()).values()) == {None}
    await directory.close()


@pytest.mark.slow
async def test_a_shard_that_is_migrated_or_moved_is_left_alone(dsns: dict[str, str]) -> None:
    directory = await Directory.open(dsns["a"])
    shard_map = await directory.load()
    conn = cast("Any", await asyncpg.connect(dsns[shard_map.owners[1]]))
    await conn.fetchval("SELECT pg_advisory_lock($1, 1)", LOCK_CLASS)

    with pytest.raises(WidenFailed, match=r"1 of 2 shards failed:\ns0001: a migration or a move"):
        await ShardWidener(shard_map, [1, 2], options=QUICK).prepare(["albums.id"])

    found = await ShardWidener(shard_map).status()
    assert {name for name, widening in found.items() if widening is not None} == {"s0002"}
    await conn.close()
    await directory.close()


async def test_the_command(dsns: dict[str, str]) -> None:
    async def command(*arguments: str) -> str:
        call = asyncio.to_thread(CliRunner().invoke, app, ["widen", *arguments, "--directory", dsns["a"]])
        result = await call
        assert result.exit_code == 0, result.output
        return result.output

    assert "s0000.pictures.album_id" in await command("albums.id", "--check")
    await command("albums.id", "--no-swap", "--duty", "1")
    assert "ready" in await command("status")
    await command("swap")
    assert "swapped" in await command("status")
    await command("finish")
    assert set((await types(dsns)).values()) == {"bigint"}
    assert "Nothing is being widened" in await command("status")
