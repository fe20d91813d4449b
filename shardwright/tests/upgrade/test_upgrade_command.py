"""`shardwright upgrade` from the command line, and what `status` and `doctor` say before and after it."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from old_installation import SHARDS, Installation
from typer.testing import CliRunner, Result

from shardwright.cli import app
from shardwright.migrations import Release, upgrade_library
from shardwright.topology import LIBRARY_VERSION

ALL = 1 + 2 + SHARDS


@dataclass(frozen=True)
class Command:
    """Runs commands in an empty folder, so that there are no migrations."""

    installation: Installation

    async def __call__(self, *arguments: str) -> Result:
        environment = {
            "COLUMNS": "200",
            "NO_COLOR": "1",
            "SHARDWRIGHT_DIRECTORY": self.installation.dsns["a"],
        }
        result = await asyncio.to_thread(CliRunner(env=environment).invoke, app, list(arguments))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    async def json(self, *arguments: str) -> Any:
        return json.loads((await self(*arguments, "--json")).stdout)


@pytest.fixture
def command(installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(installation)


async def test_a_dry_run_shows_the_plan_and_changes_nothing(command: Command) -> None:
    shown = await command("upgrade", "--dry-run")

    assert shown.exit_code == 0
    assert f"1 → {LIBRARY_VERSION}" in shown.stdout
    assert "8 of 8" in shown.stdout
    assert "Nothing was changed" in shown.stderr
    plan = await command.json("upgrade", "--dry-run")
    assert (plan["behind"], plan["upgraded"]) == (ALL, 0)
    assert plan["servers"]["a"] == {"version": 1, "shards": {"1": 8}}


@pytest.mark.slow
async def test_status_and_doctor_name_the_command_until_it_has_run(command: Command) -> None:
    before = await command("status")
    assert before.exit_code == 1
    assert (
        f"- 8 shards on server b have version 1 of shardwright's own SQL, not {LIBRARY_VERSION}"
        in before.stdout
    )
    assert "run shardwright upgrade" in before.stdout
    warned = [each for each in (await command.json("doctor"))["findings"] if each["check"] == "library"]
    assert {each["level"] for each in warned} == {"warning"}
    assert {each["advice"] for each in warned} == {"run shardwright upgrade"}

    ran = await command("upgrade")

    assert ran.exit_code == 0, ran.stderr
    assert f"{ALL} brought to version {LIBRARY_VERSION}" in ran.stderr
    after = await command("status")
    assert after.exit_code == 0
    assert "upgrade" not in after.stdout
    assert (await command.json("status"))["library_version"] == LIBRARY_VERSION
    fine = [each for each in (await command.json("doctor"))["findings"] if each["check"] == "library"]
    assert [each["level"] for each in fine] == ["ok"]
    again = await command("upgrade")
    assert again.exit_code == 0
    assert f"Everything has version {LIBRARY_VERSION}" in again.stderr


@pytest.mark.slow
async def test_a_newer_installation_is_refused_with_what_to_do(command: Command) -> None:
    await upgrade_library(command.installation.directory, release=Release(LIBRARY_VERSION + 1))

    for arguments in (["upgrade"], ["upgrade", "--dry-run"], ["init", "--shards", "20"]):
        ran = await command(*arguments)
        assert ran.exit_code == 1
        assert "upgrade the package" in ran.stderr
    assert "pip install --upgrade shardwright" in (await command("status")).stdout


@pytest.mark.slow
async def test_a_failure_is_in_the_report(command: Command) -> None:
    other = "CREATE FUNCTION s0003.library_version() RETURNS text LANGUAGE sql AS 'SELECT 1::text'"
    await command.installation.run("b", other)
    report = await command("upgrade", "--json")

    assert report.exit_code == 1
    failed = json.loads(report.stdout)
    assert "cannot change return type" in failed["failed"]["s0003 on b"]
    assert failed["upgraded"] == ALL - 1


async def test_the_help_says_when_to_run_it(command: Command) -> None:
    shown = (await command("upgrade", "--help")).stdout

    assert "--dry-run" in shown
    assert "goes on where it stopped" in " ".join(shown.replace("│", " ").split())


@pytest.mark.slow
async def test_shards_of_an_older_version_are_behind_and_have_not_drifted(
    command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "migrations" / "shard"
    folder.mkdir(parents=True)
    (folder / "0001_likes.sql").write_text("CREATE TABLE likes (post_id bigint PRIMARY KEY);")
    assert (await command("migrate")).exit_code == 0
    await command("upgrade")
    await command.installation.run("b", "DROP FUNCTION s0001.library_version(), s0003.library_version()")

    shown = await command("status")

    findings = [line for line in shown.stdout.splitlines() if line.startswith("- ")]
    assert len(findings) == 1
    assert findings[0].startswith("- 2 shards on server b have version 1 of shardwright's own SQL")
