"""Servers for a whole run: each run has its own, on free ports, shared by its workers.

The first worker that needs them starts them, under a file lock; the process that leads the run ends them,
whatever the workers did. What a killed run left behind is swept by the next one.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
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
from shardwright.topology import Directory

NAMES = ("a", "b")
# No fsync, small buffers: these servers live for a minute. Prepared transactions are there for fault tests.
# Moves in several databases share the slots and workers of two servers.
SETTINGS = {
    "shared_buffers": "64MB",
    "max_prepared_transactions": "10",
    "autovacuum": "off",
    "max_replication_slots": "100",
    "max_wal_senders": "100",
    "max_logical_replication_workers": "60",
    "max_worker_processes": "80",
    "wal_retrieve_retry_interval": "200ms",
}
PREFIX = "shardwright-tests-"
RUN_DIRECTORY = pytest.StashKey[Path]()

FreshDatabase = Callable[[LocalServer], Awaitable[str]]
Build = Callable[[dict[str, str]], Awaitable[None]]
PreparedDatabases = Callable[[str, Build], Awaitable[dict[str, str]]]
PrepareShard = Callable[[asyncpg.Connection, int], Awaitable[None]]
PreparedDirectory = Callable[..., Awaitable[dict[str, str]]]
RunOn = Callable[[LocalServer, str], Awaitable[None]]
OwnServers = Callable[..., contextlib.AbstractContextManager[LocalServer]]


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


@pytest.fixture(scope="session")
def initialized_directory(run_directory: Path) -> Path:
    """The folder of a server that was started once and stopped; copying it saves the next one its `initdb`."""
    server = LocalServer(run_directory / "initialized", durable=False, settings=SETTINGS)
    with (run_directory / "initialized.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not server.directory.exists():
            server.start()
            server.stop()
            (server.directory / "port").unlink()  # each copy has its own, also after a crash
    return server.directory


@pytest.fixture(scope="session")
def own_servers(run_directory: Path, initialized_directory: Path) -> OwnServers:
    """Start a server that may crash; copies, which take less time, have the same system identifier."""

    def start(*, is_copy: bool) -> contextlib.AbstractContextManager[LocalServer]:
        return open_own_server(run_directory, copy_of=initialized_directory if is_copy else None)

    return start


@pytest.fixture
def own_server(run_directory: Path, initialized_directory: Path) -> Iterator[LocalServer]:
    """A server for one test alone, which may crash it."""
    with open_own_server(run_directory, copy_of=initialized_directory) as server:
        yield server


@pytest.fixture
def another_server(run_directory: Path) -> Iterator[LocalServer]:
    """A second server for one test alone; no copy, since copies have the same system identifier."""
    with open_own_server(run_directory) as server:
        yield server


@contextlib.contextmanager
def open_own_server(run_directory: Path, copy_of: Path | None = None) -> Generator[LocalServer]:
    directory = Path(tempfile.mkdtemp(prefix=f"own-{os.getpid()}-", dir=run_directory))
    directory.chmod(0o711)
    if copy_of is not None:
        subprocess.run(["/bin/cp", "-a", copy_of, directory / "server"], check=True)
    server = LocalServer(directory / "server", durable=False, settings=SETTINGS)
    try:
        server.start()
        yield server
    finally:
        server.stop(mode="immediate")
        shutil.rmtree(directory, ignore_errors=True)


_numbers = count(1)


@pytest.fixture(scope="session")
async def run_on(run_directory: Path) -> AsyncIterator[RunOn]:
    """Run a statement on a server as its superuser, over one connection to each shared server."""
    opened: dict[Path, asyncpg.Connection] = {}
    locks: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(server: LocalServer, sql: str) -> None:
        if server.directory.parent != run_directory:  # a test's own, which may crash
            await _run(server.dsn(), sql)
            return
        async with locks[server.directory]:
            if server.directory not in opened:
                opened[server.directory] = await _connect(server.dsn())
            await opened[server.directory].execute(sql)

    yield run
    for connection in opened.values():
        await connection.close()


@pytest.fixture
async def fresh_database(run_on: RunOn) -> AsyncIterator[FreshDatabase]:
    """Make empty databases: `await fresh_database(servers["a"])` returns a DSN; dropped afterwards."""
    made: list[tuple[LocalServer, str]] = []

    async def make(server: LocalServer, template: str = "template1") -> str:
        name = f"test_{os.getpid()}_{next(_numbers)}"
        made.append((server, name))
        await run_on(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return server.dsn(name)

    yield make
    for server, name in made:
        with contextlib.suppress(OSError):  # a test that ended its own server ended the database with it
            await run_on(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
async def prepared_databases(
    servers: Mapping[str, LocalServer],
    fresh_database: Callable[..., Awaitable[str]],
    run_on: RunOn,
    run_directory: Path,
) -> PreparedDatabases:
    """Make a database on each server with a directory on `a`, built once per run and copied from then on."""

    async def make(kind: str, build: Build) -> dict[str, str]:
        template = f"template_{kind}"
        is_built = run_directory / f"{template}.built"
        with (run_directory / f"{template}.lock").open("w") as lock:
            # In a thread: another task of this very loop may hold the lock.
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            if not is_built.exists():
                for server in servers.values():
                    await run_on(server, f"DROP DATABASE IF EXISTS {template}")
                    await run_on(server, f"CREATE DATABASE {template} STRATEGY file_copy")
                await build({name: server.dsn(template) for name, server in servers.items()})
                is_built.touch()
        made = {name: await fresh_database(server, template) for name, server in servers.items()}
        addresses = [
            f"UPDATE shardwright_directory.servers SET dsn = '{dsn}' WHERE name = '{name}'"
            for name, dsn in made.items()
        ]
        await _run(made["a"], ";".join(addresses))
        return made

    return make


@pytest.fixture
async def prepared_directory(prepared_databases: PreparedDatabases) -> PreparedDirectory:
    """Make a database on each server, with a directory on `a` that knows both and has so many shards."""

    async def make(shards: int = 0, prepare: PrepareShard | None = None) -> dict[str, str]:
        async def build(dsns: dict[str, str]) -> None:
            directory = await Directory.open(dsns["a"])
            await directory.create()
            for name, dsn in dsns.items():
                await directory.add_server(name, dsn)
            if shards:
                await directory.add_shards(shards, prepare=prepare)
            await directory.close()

        kind = f"directory_{shards}" if prepare is None else f"directory_{shards}_{prepare.__name__}"
        return await prepared_databases(kind, build)

    return make


async def _run(dsn: str, sql: str) -> None:
    connection = await _connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def _connect(dsn: str) -> asyncpg.Connection:
    return cast("asyncpg.Connection", await asyncpg.connect(dsn))
