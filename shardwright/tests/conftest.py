"""Servers for a whole run: each run has its own, on free ports, shared by its workers.

The first worker that needs them starts them, under a file lock; the process that leads the run ends them,
whatever the workers did. What a killed run left behind is swept by the next one.
"""

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

# The runner names this file after its path, shardwright.tests.conftest, and to do so puts an empty package
# `shardwright` where the library belongs.
if getattr(sys.modules.get("shardwright"), "__file__", None) is None:
    sys.modules.pop("shardwright", None)

from shardwright.local import LocalServer, make_memory_folder

NAMES = ("a", "b")
# No fsync, small buffers: these servers live for a minute. Prepared transactions are there for fault tests.
SETTINGS = {"shared_buffers": "64MB", "max_prepared_transactions": "10", "autovacuum": "off"}
PREFIX = "shardwright-tests-"
RUN_DIRECTORY = pytest.StashKey[Path]()

FreshDatabase = Callable[[LocalServer], Awaitable[str]]
Build = Callable[[dict[str, str]], Awaitable[None]]
PreparedDatabases = Callable[[str, Build], Awaitable[dict[str, str]]]


def pytest_configure(config: pytest.Config) -> None:
    handed_down = cast("dict[str, str]", getattr(config, "workerinput", {})).get("shardwright_run_directory")
    if handed_down is None:
        directory = make_memory_folder(f"{PREFIX}{os.getpid()}-")
        sweep(directory.parent)
        directory.chmod(0o711)  # the server account passes through
    else:
        directory = Path(handed_down)
    config.stash[RUN_DIRECTORY] = directory


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # xdist's WorkerController ships without types
    node.workerinput["shardwright_run_directory"] = str(node.config.stash[RUN_DIRECTORY])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        end_run(config.stash[RUN_DIRECTORY])


def end_run(directory: Path) -> None:
    """Stop every server of a run and remove its folder."""
    for pid_file in directory.rglob("postmaster.pid"):
        LocalServer(pid_file.parent.parent).stop(mode="immediate")
    shutil.rmtree(directory, ignore_errors=True)


def sweep(parent: Path) -> None:
    """End the runs whose leading process is gone."""
    for directory in parent.glob(f"{PREFIX}*-*"):
        leader = int(directory.name.removeprefix(PREFIX).partition("-")[0])
        if not Path(f"/proc/{leader}").exists() and os.access(directory, os.W_OK):
            end_run(directory)


@pytest.fixture(scope="session")
def run_directory(request: pytest.FixtureRequest) -> Path:
    """A folder of this run that the server account can traverse; removed, with its servers, at the end."""
    return request.config.stash[RUN_DIRECTORY]


@pytest.fixture(scope="session")
def servers(run_directory: Path) -> Mapping[str, LocalServer]:
    """Two primary servers, `a` and `b`, shared by the whole run: make databases, don't stop them."""
    found = {name: LocalServer(run_directory / name, durable=False, settings=SETTINGS) for name in NAMES}
    with (run_directory / "lock").open("w") as lock, ThreadPoolExecutor() as threads:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for started in [threads.submit(server.start) for server in found.values()]:
            started.result()
    return found


@pytest.fixture
def own_server(run_directory: Path) -> Iterator[LocalServer]:
    """A server for one test alone, which may crash it."""
    with open_own_server(run_directory) as server:
        yield server


@pytest.fixture
def another_server(run_directory: Path) -> Iterator[LocalServer]:
    """A second server for one test alone."""
    with open_own_server(run_directory) as server:
        yield server


@contextlib.contextmanager
def open_own_server(run_directory: Path) -> Iterator[LocalServer]:
    directory = Path(tempfile.mkdtemp(prefix=f"own-{os.getpid()}-", dir=run_directory))
    directory.chmod(0o711)
    server = LocalServer(directory / "server", durable=False, settings=SETTINGS)
    try:
        server.start()
        yield server
    finally:
        server.stop(mode="immediate")
        shutil.rmtree(directory, ignore_errors=True)


_numbers = count(1)
_templates: set[str] = set()


@pytest.fixture
async def fresh_database() -> AsyncIterator[FreshDatabase]:
    """Make empty databases: `await fresh_database(servers["a"])` returns a DSN; dropped afterwards."""
    made: list[tuple[LocalServer, str]] = []

    async def make(server: LocalServer, template: str = "template1") -> str:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        made.append((server, name))
        await _run(server.dsn(), f"CREATE DATABASE {name} TEMPLATE {template}")
        return server.dsn(name)

    yield make
    for server, name in made:
        with contextlib.suppress(OSError):  # a test that ended its own server ended the database with it
            await _run(server.dsn(), f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
async def prepared_databases(
    servers: Mapping[str, LocalServer], fresh_database: Callable[..., Awaitable[str]]
) -> PreparedDatabases:
    """Make a database on each server with a directory on `a`, built once per test process and copied from then on."""

    async def make(kind: str, build: Build) -> dict[str, str]:
        template = f"template_{kind}_{os.getpid()}"
        if template not in _templates:
            for server in servers.values():
                await _run(server.dsn(), f"CREATE DATABASE {template}")
            await build({name: server.dsn(template) for name, server in servers.items()})
            _templates.add(template)
        made = {name: await fresh_database(server, template) for name, server in servers.items()}
        addresses = [
            f"UPDATE shardwright_directory.servers SET dsn = '{dsn}' WHERE name = '{name}'"
            for name, dsn in made.items()
        ]
        await _run(made["a"], ";".join(addresses))
        return made

    return make


async def _run(dsn: str, sql: str) -> None:
    connection = cast("asyncpg.Connection", await asyncpg.connect(dsn))
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
