"""The commands sql, ids, lint and tickets."""

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from shardwright.local import LocalServer

FreshDatabase = Callable[[LocalServer], Awaitable[str]]
Cli = Any  # the fixtures' types live in conftest, which cannot be imported
Site = Any


async def test_sql_is_read_only_without_write_option(site: Site) -> None:
    insert = "INSERT INTO posts (caption) VALUES ('hello') RETURNING id"

    refused = await site.cli("sql", "--shard", "3", insert)
    written = await site.cli("sql", "--shard", "3", "--write", "--json", insert)

    assert refused.exit_code == 1
    assert "--write" in refused.stderr
    row = written.json()["rows"][0]
    decoded = (await site.cli("ids", "decode", row["id"], "--json")).json()[0]
    assert (decoded["shard"], decoded["schema"]) == (3, "s0003")
    assert decoded["server"] in ("a", "b")
    by_id = await site.cli("sql", "--id", row["id"], "SELECT caption FROM posts")
    assert "hello" in by_id.stdout


async def test_sql_everywhere_has_the_shard_in_the_first_column(site: Site) -> None:
    await site.cli("sql", "--shard", "2", "--write", "INSERT INTO posts (caption) VALUES ('x'), ('y')")

    counted = await site.cli("sql", "--everywhere", "SELECT count(*) FROM posts", "--json")
    table = await site.cli("sql", "--everywhere", "SELECT count(*) AS posts FROM posts")

    assert counted.json()["rows"] == [{"shard": n, "count": 2 if n == 2 else 0} for n in range(4)]
    assert table.stdout.split()[:2] == ["shard", "posts"]


@pytest.mark.slow
async def test_sql_everywhere_asks_before_it_writes(site: Site) -> None:
    statement = "INSERT INTO posts (caption) VALUES ('x')"

    declined = await site.cli("sql", "--everywhere", "--write", statement, stdin="n\n")
    agreed = await site.cli("sql", "--everywhere", "--write", "--yes", "-", stdin=statement)
    counted = await site.cli("sql", "--everywhere", "SELECT count(*) FROM posts", "--json")

    assert (declined.exit_code, agreed.exit_code) == (1, 0)
    assert "s0000: INSERT 0 1" in agreed.stderr
    assert [row["count"] for row in counted.json()["rows"]] == [1, 1, 1, 1]


async def test_sql_finds_the_shard_of_a_key_and_needs_exactly_one_target(site: Site) -> None:
    found = await site.cli("sql", "--key", "ana", "SELECT current_schema()")
    nowhere = await site.cli("sql", "SELECT 1")
    twice = await site.cli("sql", "--shard", "1", "--key", "ana", "SELECT 1")

    assert "s000" in found.stdout
    assert (nowhere.exit_code, twice.exit_code) == (2, 2)
    assert "give exactly one of" in nowhere.stderr


async def test_sql_runs_one_statement_and_reports_errors_by_shard(site: Site) -> None:
    smuggled = await site.cli("sql", "--shard", "0", "COMMIT; DROP TABLE posts")
    wrong = await site.cli("sql", "--everywhere", "SELECT * FROM nowhere", "--json")
    unknown = await site.cli("sql", "--shard", "77", "SELECT 1")

    assert smuggled.exit_code == wrong.exit_code == unknown.exit_code == 1
    assert "multiple commands" in smuggled.stderr
    assert sorted(wrong.json()["failed"]) == ["s0000", "s0001", "s0002", "s0003"]
    assert "shard 77 is not in the map" in unknown.stderr


async def test_ids_new_draws_from_the_shard(site: Site) -> None:
    ran = await site.cli("ids", "new", "--shard", "2", "-n", "3")

    ids = [int(line) for line in ran.stdout.split()]
    assert len(ids) == 3
    assert ids == sorted(ids)
    decoded = (await site.cli("ids", "decode", *ran.stdout.split(), "--json")).json()
    assert {each["shard"] for each in decoded} == {2}


async def test_ids_are_decoded_without_any_server(cli: Cli) -> None:
    decoded = (await cli("ids", "decode", "493921239040983041", "--json")).json()[0]
    encoded = await cli("ids", "encode", "493921239040983041")
    again = (await cli("ids", "decode", encoded.stdout.strip(), "--json")).json()[0]
    legacy = (await cli("ids", "decode", "7", "--json")).json()[0]

    assert decoded == again
    assert decoded["time"] == "2026-11-13T11:33:20+00:00"
    assert (decoded["shard"], decoded["sequence"]) == (960, 1)
    assert (legacy["shard"], legacy["time"]) == (0, None)
    assert (await cli("ids", "encode", "5", "--json")).json() == {"5": "00000000005"}


async def test_ids_at_gives_the_first_id_of_a_moment(cli: Cli) -> None:
    bound = int((await cli("ids", "at", "2026-11-13T11:33:20")).stdout)
    same = (await cli("ids", "at", "2026-11-13T12:33:20+01:00", "--json")).json()
    other_epoch = int((await cli("ids", "at", "2026-11-13", "--epoch-ms", "0")).stdout)

    assert bound <= 493921239040983041 < bound + (1 << 23)
    assert same["min_id"] == str(bound)
    assert other_epoch > bound


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["ids", "decode", "hello"], 1, "neither a number nor a short code"),
        (["ids", "decode", "99999999999999999999"], 1, "not an id"),
        (["ids", "at", "yesterday"], 2, "not an ISO time"),
        (["ids", "at", "2026-01-01", "--epoch-ms", "-5"], 1, "before 1970"),
        (["lint"], 2, "no migrations here"),
        (["lint", "nowhere"], 1, "nowhere"),
        (["tickets", "next", "photos"], 2, "SHARDWRIGHT_TICKETS"),
        (["local", "stop", "nowhere"], 2, "there are no servers"),
        (["frobnicate"], 2, "No such command"),
    ],
)
async def test_wrong_arguments_are_refused_with_a_message(
    cli: Cli, arguments: list[str], exit_code: int, message: str
) -> None:
    ran = await cli(*arguments)

    assert ran.exit_code == exit_code
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


async def test_lint_prints_its_findings(cli: Cli, migrations: Path) -> None:
    clean = await cli("lint")
    (migrations / "shard" / "0002_slow.sql").write_text("CREATE INDEX ON posts (caption);\n")

    found = await cli("lint", "migrations")
    told = await cli("lint", "--json")

    assert (clean.exit_code, found.exit_code, told.exit_code) == (0, 1, 1)
    assert "0002_slow.sql:1: index-not-concurrent" in found.stdout
    assert told.json()[0]["rule"] == "index-not-concurrent"
    assert "narrow-id" in (await cli("lint", "--rules")).stdout
    assert "narrow-id" in (await cli("lint", "--rules", "--json")).json()


@pytest.mark.slow
async def test_tickets_are_set_up_drawn_grown_and_shown(
    cli: Cli,
    databases: Mapping[str, str],
    servers: Mapping[str, LocalServer],
    fresh_database: FreshDatabase,
) -> None:
    third = f"three={await fresh_database(servers['a'])}"
    cli.environment["SHARDWRIGHT_TICKETS"] = f"one={databases['a']} two={databases['b']}"
    await cli("tickets", "found", "--slots", "2")
    await cli("tickets", "create", "photos", "--start-above", "1000")
    full = await cli("tickets", "add-server", third)
    grown = await cli("tickets", "grow", "4")
    added = await cli("tickets", "add-server", third)
    cli.environment["SHARDWRIGHT_TICKETS"] += f" {third}"
    shown = await cli("tickets", "status", "--json")

    assert full.exit_code == 1
    assert "grow the fleet first" in full.stderr
    assert (grown.exit_code, added.exit_code, shown.exit_code) == (0, 0, 0)
    assert [(each["slot"], each["slots"], each["generation"]) for each in shown.json()] == [
        (1, 4, 2),
        (2, 4, 2),
        (3, 4, 2),
    ]
    # The test servers run without fsync, and tickets are refused by default from servers that can forget.
    refused = await cli("tickets", "next", "photos")
    assert refused.exit_code == 1
    assert "fsync off" in refused.stderr


async def test_ticket_status_distinguishes_a_dead_server_from_a_blank_one(
    cli: Cli, databases: Mapping[str, str]
) -> None:
    ran = await cli(
        "tickets",
        "status",
        "-s",
        f"blank={databases['a']}",
        "-s",
        "dead=postgresql://127.0.0.1:1/x",
        "--json",
    )

    states = {each["server"]: each["state"] for each in ran.json()}
    assert ran.exit_code == 1
    assert states["blank"] == "not in a fleet"
    assert "not reachable" in states["dead"]


async def test_help_contains_examples(cli: Cli) -> None:
    for command in ("init", "status", "sql", "migrate", "lint", "doctor", "schema"):
        ran = await cli(command, "--help")
        assert ran.exit_code == 0
        assert f"shardwright {command}" in ran.stdout.split("Options", maxsplit=1)[0]
    assert "shardwright" in (await cli("version")).stdout


async def test_json_keeps_large_ids_exact(site: Site) -> None:
    ran = await site.cli(
        "sql",
        "--shard",
        "0",
        "--json",
        "SELECT 9007199254740993::bigint AS big, 7 AS small, now() AS at, '\\xff'::bytea AS raw, ARRAY[1, 2] AS list,"
        " NULL AS nothing, 1.50::numeric AS money",
    )

    row = json.loads(ran.stdout)["rows"][0]
    assert (row["big"], row["small"], row["raw"], row["list"]) == ("9007199254740993", 7, "\\xff", [1, 2])
    assert (row["nothing"], row["money"]) == (None, "1.50")
