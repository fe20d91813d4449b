"""`shardwright move`: shards change their server by one command, also where the application has no DDL."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from shardwright.cli.move import read_shards
from shardwright.routing import Queries, Shards
from shardwright.topology import open_connection

Site = Any  # the fixtures' types live in conftest, which cannot be imported

QUERIES = """
-- name: add_post
INSERT INTO posts (caption) VALUES (:caption) RETURNING id;
"""


@pytest.fixture
async def moved_site(site: Site) -> AsyncIterator[Site]:
    """A site whose moves are ended afterwards: a database with slots cannot be dropped."""
    yield site
    for move in (await site.cli("move", "status", "--json")).json():
        await site.cli("move", "finish", str(move["move"]))


@pytest.mark.slow
async def test_a_move_is_shown_undone_and_ended(moved_site: Site) -> None:
    cli = moved_site.cli
    nothing = await cli("move", "status")
    assert "No shard is being moved." in nothing.stderr

    moved = await cli("move", "s0001", "3", "--to", "a")
    assert moved.exit_code == 0, moved.stderr
    assert "Server a owns s0001, s0003." in moved.stderr
    assert "rows were compared and are equal" in moved.stderr
    (shown,) = (await cli("move", "status", "--json")).json()
    assert (shown["step"], shown["shards"], shown["target"]) == ("keep", ["s0001", "s0003"], "a")
    again = await cli("move", "s0001", "--to", "b")
    assert again.exit_code == 1
    assert f"shardwright move finish {shown['move']}" in again.stderr

    back = await cli("move", "back", str(shown["move"]))
    assert "Server b owns s0001, s0003." in back.stderr
    ended = await cli("move", "finish", str(shown["move"]))
    assert "has ended: server b owns" in ended.stderr
    repeated = await cli("move", "finish", str(shown["move"]))
    assert "has ended: server b owns" in repeated.stderr
    late = await cli("move", "abort", str(shown["move"]))
    assert (late.exit_code, "cannot be undone" in late.stderr) == (1, True)
    swept = await cli("move", "sweep", "--drop")
    assert "Nothing is left over." in swept.stderr
    assert [each["step"] for each in (await cli("move", "status", "--all", "--json")).json()] == ["done"]


@pytest.mark.slow
async def test_an_application_without_ddl_goes_on_at_the_new_server(moved_site: Site, tmp_path: Path) -> None:
    site, name = moved_site, f"cli_{secrets.token_hex(4)}"
    servers = [word for each in ("a", "b") for word in ("-s", f"{each}={site.servers[each]}")]
    (tmp_path / "queries.sql").write_text(QUERIES)
    assert (await site.cli("install", str(tmp_path / "queries.sql"))).exit_code == 0
    made = (await site.cli("roles", "--prefix", name, *servers, "--json")).json()["addresses"]
    conn = await open_connection(site.servers["b"], "b")
    await conn.execute(f"REVOKE DELETE ON s0001.posts FROM {name}_runtime")
    await conn.close()
    queries = Queries.parse(QUERIES)
    runtime: dict[str, str] = dict(zip(("a", "b"), made[f"{name}_runtime"], strict=True))

    shards = await Shards.open(runtime["a"], queries=[queries], dsns=runtime)
    before = await shards.shard(1).fetch_value(queries.add_post, caption="before")
    moved = await site.cli("move", "s0001", "--to", "a", *servers, "--finish")
    assert moved.exit_code == 0, moved.stderr
    after = await shards.shard(1).fetch_value(queries.add_post, caption="after")
    await shards.close()

    assert after > before
    conn = await open_connection(site.servers["a"], "a")
    allowed = "SELECT has_table_privilege($1, 's0001.posts', $2)"
    assert [await conn.fetchval(allowed, f"{name}_runtime", what) for what in ("INSERT", "DELETE")] == [
        True,
        False,
    ]
    assert (
        await conn.fetchval("SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 's0001'")
        == f"{name}_owner"
    )
    await conn.close()


def test_shards_are_named_alone_and_in_ranges() -> None:
    assert read_shards(["s0042", "7", "s0010-12"]) == [42, 7, 10, 11, 12]


async def test_a_shard_that_is_none_is_a_usage_error(site: Site) -> None:
    ran = await site.cli("move", "posts", "--to", "a")

    assert ran.exit_code == 2
    assert "is not a shard" in ran.stderr
