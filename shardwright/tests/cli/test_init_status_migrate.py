"""The commands init, status, migrate, schema and doctor."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import typer
from typer.testing import CliRunner

from shardwright.cli import Settings, app

Cli = Any  # the fixtures' types live in conftest, which cannot be imported
Site = Any


@pytest.mark.slow
async def test_init_places_shards_on_all_servers_and_is_safe_to_repeat(site: Site) -> None:
    again = await site.cli("init", "--json")
    more = await site.cli("init", "--shards", "6", "--json")
    status = (await site.cli("status", "--json")).json()

    assert (again.json()["shards"], more.json()["shards"]) == (4, 6)
    assert {each["name"]: each["shards"] for each in status["servers"]} == {"a": 3, "b": 3}


async def test_init_without_a_server_says_what_is_missing(cli: Cli, databases: Mapping[str, str]) -> None:
    ran = await cli("init", "--directory", databases["directory"])

    assert ran.exit_code == 2
    assert "--server NAME=postgresql" in ran.stderr


async def test_a_server_must_be_named_once_and_properly(cli: Cli) -> None:
    twice = await cli("init", "-s", "a=x", "-s", "a=y")
    bare = await cli("init", "-s", "postgresql")

    assert (twice.exit_code, bare.exit_code) == (2, 2)
    assert "two servers are named" in twice.stderr
    assert "NAME=ADDRESS" in bare.stderr


async def test_commands_without_a_directory_say_how_to_give_one(cli: Cli) -> None:
    for command in (["status"], ["doctor"], ["sql", "--shard", "0", "SELECT 1"], ["init"]):
        ran = await cli(*command)
        assert ran.exit_code == 2
        assert "SHARDWRIGHT_DIRECTORY" in ran.stderr


async def test_a_directory_that_does_not_answer_is_an_error_without_a_traceback(cli: Cli) -> None:
    ran = await cli("status", "--directory", "postgresql://nobody@127.0.0.1:1/none")

    assert ran.exit_code == 1
    assert ran.stderr.startswith("error: ")
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
async def test_status_shows_each_server_with_size_versions_and_connections(site: Site) -> None:
    table = await site.cli("status")
    found = (await site.cli("status", "--json")).json()

    assert table.exit_code == 0
    assert "4 shards on 2 servers" in table.stdout
    assert [each["schema_versions"] for each in found["servers"]] == [{"1": 2}, {"1": 2}]
    assert all(each["is_up"] and each["size_bytes"] > 0 for each in found["servers"])
    assert all(0 < each["connections"] <= each["max_connections"] for each in found["servers"])


@pytest.mark.slow
async def test_status_names_a_server_that_is_down_and_exits_with_1(site: Site) -> None:
    driver: Any = asyncpg  # it ships without types
    connection = await driver.connect(site.cli.environment["SHARDWRIGHT_DIRECTORY"])
    await connection.execute(
        "UPDATE shardwright_directory.servers SET dsn = 'postgresql://127.0.0.1:1/x' WHERE name = 'b'"
    )
    await connection.close()

    ran = await site.cli("status", "--json")
    doctor = await site.cli("doctor")

    assert ran.exit_code == 1
    assert [each["is_up"] for each in ran.json()["servers"]] == [True, False]
    assert doctor.exit_code == 1
    assert "correct its address" in doctor.stdout


@pytest.mark.slow
async def test_migrate_brings_every_shard_up_to_date(site: Site, migrations: Path) -> None:
    (migrations / "shard" / "0002_likes.sql").write_text(
        "CREATE TABLE likes (post_id bigint, account_id bigint, PRIMARY KEY (post_id, account_id));\n"
    )
    missing = await site.cli("migrate", "--check")
    behind = await site.cli("status")
    one = await site.cli("migrate", "--shard", "3", "--json")
    applied = await site.cli("migrate")
    settled = await site.cli("migrate", "--check", "--json")

    assert missing.exit_code == behind.exit_code == 1
    assert "0002_likes" in missing.stdout
    assert len(one.json()["finished"]) == 1
    assert (applied.exit_code, settled.exit_code, settled.json()) == (0, 0, {})


async def test_a_failed_migration_is_reported_as_text_and_as_json(site: Site, migrations: Path) -> None:
    (migrations / "shard" / "0002_wrong.sql").write_text("INSERT INTO posts (caption) VALUES (NULL);\n")

    printed = await site.cli("migrate", "--no-lint")
    told = await site.cli("migrate", "--no-lint", "--json")

    assert (printed.exit_code, told.exit_code) == (1, 1)
    assert "null value" in printed.stderr
    assert told.json()["failed"]


@pytest.mark.slow
async def test_schema_prints_the_result_of_the_migrations(site: Site, tmp_path: Path) -> None:
    printed = await site.cli("schema")
    (tmp_path / "schema.sql").write_text(printed.stdout)

    same = await site.cli("schema", "--check", "schema.sql")
    (tmp_path / "schema.sql").write_text("-- something else\n")
    other = await site.cli("schema", "--check", "schema.sql")

    assert "CREATE TABLE posts" in printed.stdout
    assert (same.exit_code, other.exit_code) == (0, 1)


async def test_doctor_finds_nothing_but_the_missing_fsync_of_test_servers(site: Site) -> None:
    ran = await site.cli("doctor", "--json")

    findings = ran.json()["findings"]
    assert {each["check"] for each in findings if each["level"] != "ok"} == {"settings"}
    assert {each["check"] for each in findings if each["level"] == "ok"} >= {
        "ids",
        "clocks",
        "guards",
        "migrations",
    }
    assert "shardwright" in ran.json()["versions"]


@pytest.mark.slow
async def test_doctor_finds_drift_and_lost_shards(site: Site) -> None:
    driver: Any = asyncpg  # it ships without types
    connection = await driver.connect(site.servers["a"])
    schemas = [
        row[0]
        for row in await connection.fetch("SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]+$'")
    ]
    await connection.execute(f"CREATE TABLE {schemas[0]}.by_hand (id bigint PRIMARY KEY)")
    await connection.execute(f"DROP SCHEMA {schemas[1]} CASCADE")
    await connection.close()

    ran = await site.cli("doctor")

    assert ran.exit_code == 1
    assert f"{schemas[1]} should be on a and is not" in ran.stdout
    assert "by_hand" in ran.stdout


def test_another_command_line_mounts_it_and_supplies_the_directory(
    databases: Mapping[str, str], monkeypatch: Any
) -> None:
    monkeypatch.delenv("SHARDWRIGHT_DIRECTORY", raising=False)
    host = typer.Typer()

    @host.command()
    def up() -> None:
        """A command of the host's own."""

    def choose(context: typer.Context) -> None:
        context.obj = Settings(directory=databases["directory"])

    host.add_typer(app, name="shards", callback=choose)

    result = CliRunner().invoke(host, ["shards", "status"])

    assert up is not None
    # It found the directory, which is an empty database.
    assert result.exit_code == 1
    assert "SHARDWRIGHT_DIRECTORY" not in result.stderr
