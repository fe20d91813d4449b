"""The command line against real servers, with separate databases for each test."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from shardwright.cli import app
from shardwright.local import LocalServer
from shardwright.topology import open_connection

FreshDatabase = Callable[[LocalServer], Awaitable[str]]

POSTS = """\
CREATE TABLE posts (
    id bigint PRIMARY KEY DEFAULT next_id(),
    caption text NOT NULL
);
"""


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    exit_code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        return json.loads(self.stdout)


class Cli:
    """Runs commands in a thread of this process, with their own environment."""

    def __init__(self, environment: Mapping[str, str | None]) -> None:
        self.environment = dict(environment)

    async def __call__(self, *arguments: str, stdin: str | None = None) -> Ran:
        runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", **self.environment})
        result = await asyncio.to_thread(runner.invoke, app, list(arguments), input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The command with no directory configured, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names = ("SHARDWRIGHT_DIRECTORY", "SHARDWRIGHT_MIGRATIONS", "SHARDWRIGHT_TICKETS")
    return Cli(dict.fromkeys(names))


@pytest.fixture
def migrations(cli: Cli, tmp_path: Path) -> Path:
    """A folder with one migration for shards, where the command looks for it by default."""
    del cli  # it chose the folder
    folder = tmp_path / "migrations" / "shard"
    folder.mkdir(parents=True)
    (folder / "0001_posts.sql").write_text(POSTS)
    return folder.parent


@dataclass(frozen=True)
class Site:
    """A directory and two servers with four shards, a table in each."""

    cli: Cli
    servers: Mapping[str, str]


@pytest.fixture
async def databases(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> Mapping[str, str]:
    """An empty database on each server; the directory shares the first."""
    a, b = await asyncio.gather(fresh_database(servers["a"]), fresh_database(servers["b"]))
    return {"directory": a, "a": a, "b": b}


@pytest.fixture
async def site(
    cli: Cli, prepared_databases: Callable[..., Awaitable[dict[str, str]]], migrations: Path
) -> Site:
    del migrations  # init finds it

    async def build(dsns: dict[str, str]) -> None:
        cli.environment["SHARDWRIGHT_DIRECTORY"] = dsns["a"]
        ran = await cli("init", "-s", f"a={dsns['a']}", "-s", f"b={dsns['b']}", "--shards", "4")
        assert ran.exit_code == 0, ran.stderr

    made = await prepared_databases("site", build)
    cli.environment["SHARDWRIGHT_DIRECTORY"] = made["a"]
    return Site(cli, made)


@pytest.fixture
async def a(site: Site) -> AsyncIterator[asyncpg.Connection]:
    """A connection to server a."""
    conn = await open_connection(site.servers["a"], "a")
    yield conn
    await conn.close()
