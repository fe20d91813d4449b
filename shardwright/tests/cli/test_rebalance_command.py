"""`shardwright rebalance`, `drain`, `split`, `add-server` and `set-server` against real servers."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from shardwright.cli.quantities import read_duration, read_size
from shardwright.local import LocalServer
from shardwright.routing import Queries, Shards
from shardwright.topology import Directory, open_connection

Site = Any  # the fixtures' types live in conftest, which cannot be imported
FreshDatabase = Callable[[LocalServer], Awaitable[str]]

QUERIES = Queries.parse("""
-- name: add_post
INSERT INTO posts (caption) VALUES (:caption) RETURNING id;
-- name: count_posts
SELECT count(*) FROM posts;
""")


async def owners(site: Site) -> dict[int, str]:
    directory = await Directory.open(site.servers["a"])
    found = (await directory.load()).owners
    await directory.close()
    return dict(found)


@pytest.fixture
async def filled_site(site: Site) -> AsyncIterator[Site]:
    """A site whose shards have rows; moves are ended afterwards: a database with slots cannot be dropped."""
    conns = {name: await open_connection(dsn, name) for name, dsn in site.servers.items()}
    for number, server in (await owners(site)).items():
        await conns[server].execute(
            f"INSERT INTO s{number:04d}.posts (caption) SELECT repeat('x', 100) FROM generate_series(1, 500)"
        )
    for conn in conns.values():
        await conn.close()
    yield site
    for move in (await site.cli("move", "status", "--json")).json():
        await site.cli("move", "finish", str(move["move"]))


@pytest.mark.slow
async def test_a_server_is_drained_shown_before_and_after_and_filled_again(filled_site: Site) -> None:
    site = filled_site
    before = await owners(site)

    shown = await site.cli("drain", "b", "--sample", "0", "--dry-run")
    assert shown.exit_code == 0, shown.stderr
    assert "b → a: 2 shards" in shown.stdout
    assert shown.stdout.count("█") > 20
    assert await owners(site) == before
    assert (await site.cli("set-server", "b", "--json")).json()["accepts_new"] is True

    drained = await site.cli("drain", "b", "--sample", "0", "--concurrent", "2", "--batch", "1K", "--json")
    assert drained.exit_code == 0, drained.stderr
    report = drained.json()
    assert (report["before"]["b"]["shards"], report["after"]["b"]["shards"]) == (2, 0)
    assert len(report["moves"]) == 2  # a batch each
    assert set((await owners(site)).values()) == {"a"}
    assert (await site.cli("rebalance", "--sample", "0")).stdout.endswith("Nothing to move.\n")

    again = await site.cli("set-server", "b", "--accept", "--weight", "3")
    assert "weight 3 and takes new shards" in again.stderr
    filled = await site.cli("rebalance", "--sample", "0", "--by", "count", "--keep", "1h")
    assert filled.exit_code == 0, filled.stderr
    assert sorted((await owners(site)).values()) == ["a", "b", "b", "b"]
    (kept,) = (await site.cli("move", "status", "--json")).json()
    assert (kept["step"], len(kept["shards"])) == ("keep", 3)
    assert kept["due_at"] > kept["stepped_at"]


@pytest.mark.slow
async def test_a_server_is_split_within_limits_and_old_copies_go_when_they_are_due(filled_site: Site) -> None:
    site = filled_site
    assert (await site.cli("drain", "b", "--sample", "0")).exit_code == 0
    await site.cli("set-server", "b", "--accept")

    full = await site.cli("split", "a", "--to", "b", "--sample", "0", "--room", "b=1MB")
    assert "server b has no room for more" in full.stdout
    assert set((await owners(site)).values()) == {"a"}
    some = await site.cli("split", "a", "--to", "b", "--sample", "0", "--max-shards", "1", "--keep", "0.001s")
    assert "no more than 1 shards" in some.stdout
    assert sorted((await owners(site)).values()) == ["a", "a", "a", "b"]

    assert "has ended: server b owns" in (await site.cli("move", "tend")).stderr
    assert (await site.cli("move", "status", "--json")).json() == []


@pytest.mark.slow
async def test_a_new_server_is_ready_for_shards_and_the_application_goes_on_there(
    site: Site, servers: Mapping[str, LocalServer], fresh_database: FreshDatabase, tmp_path: Path
) -> None:
    cli, name = site.cli, f"new_{secrets.token_hex(4)}"
    first, second = await fresh_database(servers["a"]), await fresh_database(servers["b"])
    cli.environment["SHARDWRIGHT_DIRECTORY"] = first
    (tmp_path / "migrations" / "server").mkdir()
    (tmp_path / "migrations" / "server" / "0001_events.sql").write_text(
        "CREATE TABLE events (id bigint PRIMARY KEY);\n"
    )
    conn = await open_connection(first, "a")
    await conn.execute("CREATE EXTENSION pg_trgm")
    assert (await cli("init", "-s", f"a={first}", "--shards", "4")).exit_code == 0
    assert (await cli("migrate")).exit_code == 0
    made = (await cli("roles", "--prefix", name, "-s", f"a={first}", "--json")).json()["addresses"]
    (runtime,) = made[f"{name}_runtime"]
    elsewhere = runtime.rpartition("@")[0] + "@" + second.rpartition("@")[2]

    added = await cli("add-server", "b", elsewhere, "-s", f"b={second}", "--json")
    assert added.exit_code == 0, added.stderr
    assert added.json()["migrations"] == 1
    assert f"{name}_runtime" in added.json()["roles"]
    again = await cli("add-server", "b", elsewhere, "-s", f"b={second}", "--weight", "1")
    assert "0 migrations applied, 0 roles created" in again.stderr

    shards = await Shards.open(runtime, queries=[QUERIES], dsns={"a": runtime})  # b: by the map's address
    superusers = ("-s", f"a={first}", "-s", f"b={second}")
    filled = await cli("rebalance", "--sample", "0", "--by", "count", *superusers)
    assert filled.exit_code == 0, filled.stderr
    await shards.refresh()
    assert sorted(shards.map.owners.values()) == ["a", "a", "b", "b"]
    for number in range(4):
        await shards.shard(number).fetch_value(QUERIES.add_post, caption="new")
        assert await shards.shard(number).fetch_value(QUERIES.count_posts) == 1
    await shards.close()
    await conn.close()


async def test_an_unknown_server_and_a_wrong_size_are_refused(site: Site) -> None:
    assert "no server 'c'" in (await site.cli("set-server", "c", "--weight", "1")).stderr
    assert (await site.cli("drain", "a", "--max-size", "many", "--sample", "0")).exit_code == 2


def test_sizes_and_durations_are_read() -> None:
    assert [read_size(text) for text in ("7", "1KB", "1.5m", "2 GiB")] == [7, 1024, 3 * 2**19, 2**31]
    assert [read_duration(text) for text in ("30", "90m", "24h", "7d")] == [30, 5400, 86_400, 604_800]
