"""Data directories that the servers' account can access, and supervisors in separate processes."""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import asyncpg
import pytest

from tintype.stack import Connections, DataDirectory, Program, Stack, StackPlan, Stage, tintype_programs
from tintype.stack.processes import Identity, find_marked, find_working_in
from tintype.stack.state import State, read_state

HERE = Path(__file__).parent
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
FAKE_PROGRAM = str(HERE / "fake_program.py")


@contextlib.contextmanager
def reachable_folder() -> Generator[Path]:
    """A folder that the servers' account can traverse."""
    folder = Path(tempfile.mkdtemp(prefix="tintype-stack-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def home() -> Iterator[Path]:
    """A data directory that does not exist yet."""
    with reachable_folder() as folder:
        yield folder / "home"


@pytest.fixture(scope="session")
async def existing() -> AsyncIterator[Connections]:
    """Running servers, shared by the tests that need none of their own."""
    with reachable_folder() as folder:
        async with Stack(folder / "home", engines_only=True, durable=False) as stack:
            yield stack.connections


@pytest.fixture
def plan(home: Path, existing: Connections) -> StackPlan:
    """A plan that uses the existing servers and starts none."""
    return StackPlan(
        home=home, postgres=existing.postgres, redis=existing.redis, nats=existing.nats, http_port=0
    )


def fake_program(role: str, *arguments: str, stage: Stage = Stage.WORKER, grace_s: float = 1.0) -> Program:
    """A program of the stack that plays a role of `fake_program.py`."""
    command = (sys.executable, FAKE_PROGRAM, role, *arguments)
    return Program(name=role, command=command, stage=stage, grace_s=grace_s)


def setup_alone(connections: Connections) -> list[Program]:
    """Tintype's programs without those that serve."""
    programs = tintype_programs()(connections)
    return [each for each in programs if each.stage in {Stage.SETUP, Stage.REPLICA_SETUP}]


def survivors(home: Path) -> list[Identity]:
    """Every process that belongs to the data directory, by marker or by working directory."""
    directory = DataDirectory(home)
    databases = [home / f"postgres-{number}" / "data" for number in range(1, directory.count_postgres() + 1)]
    workers = [each for data in databases for each in find_working_in(data, "postgres")]
    return [*find_marked(directory.mark), *workers]


def state_of(home: Path) -> State:
    """The supervisor's state file."""
    state = read_state(DataDirectory(home))
    assert state is not None
    return state


def identity_of(home: Path, name: str) -> Identity:
    """The identity of a program's current process."""
    found = next(each.identity for each in state_of(home).processes if each.name == name)
    assert found is not None
    return found


@dataclass
class Supervised:
    """A stack whose supervisor runs in another process."""

    process: "subprocess.Popen[str]"
    home: Path
    environment: dict[str, str]

    @property
    def postgres(self) -> str:
        return json.loads(self.environment["TINTYPE_POSTGRES"])[0]


Supervise = Callable[..., Supervised]


@pytest.fixture
def supervise(home: Path) -> Iterator[Supervise]:
    """Start a supervisor process and return once all is ready; what is left running is killed after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*roles: str, prefix: tuple[str, ...] = ()) -> Supervised:
        command = [*prefix, sys.executable, str(HERE / "run_supervisor.py"), str(home), *roles]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/")
        started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"the supervisor exited with {process.wait()}"
        return Supervised(process, home, json.loads(line))

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)
    for each in survivors(home):
        os.kill(each.pid, 9)


def owner_of(each: Identity) -> int:
    """The account a process runs as."""
    return Path(f"/proc/{each.pid}").stat().st_uid


def mode_of(path: Path) -> int:
    """The permission bits of a path."""
    return path.stat().st_mode & 0o777


async def connect(dsn: str) -> asyncpg.Connection:
    """A new connection."""
    return cast("asyncpg.Connection", await asyncpg.connect(dsn, timeout=10))


async def fetch_value(dsn: str, sql: str) -> object:
    """The single value that a query returns."""
    connection = await connect(dsn)
    try:
        return cast("object", await connection.fetchval(sql))
    finally:
        await connection.close()


async def execute(dsn: str, sql: str) -> None:
    """Execute a statement."""
    connection = await connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - changes in other processes raise no event here
            await asyncio.sleep(0.02)
