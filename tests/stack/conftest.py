"""Homes that the servers can reach, and supervisors in processes of their own."""

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

from tintype.stack import Connections, Home, Plan, Program, Stack, Stage
from tintype.stack.processes import Identity, find_marked, find_working_in
from tintype.stack.state import State, read_state

HERE = Path(__file__).parent
STANDIN = str(HERE / "standin.py")


@contextlib.contextmanager
def reachable_folder() -> Generator[Path]:
    """A folder that the servers' account can pass through."""
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
    """Servers that run already, for tests of everything else."""
    with reachable_folder() as folder:
        async with Stack(folder / "home", engines_only=True, durable=False) as stack:
            yield stack.connections


@pytest.fixture
def plan(home: Path, existing: Connections) -> Plan:
    """A plan that starts no engine of its own."""
    return Plan(home=home, postgres=existing.postgres, redis=existing.redis, nats=existing.nats, http_port=0)


def standin(role: str, *arguments: str, stage: Stage = Stage.WORKER, grace_s: float = 1.0) -> Program:
    """A program of the stack that plays a role of `standin.py`."""
    command = (sys.executable, STANDIN, role, *arguments)
    return Program(name=role, command=command, stage=stage, grace_s=grace_s)


def survivors(home: Path) -> list[Identity]:
    """Every process that belongs to the home, by mark or by working directory."""
    place = Home(home)
    databases = [home / f"postgres-{number}" / "data" for number in range(1, place.count_postgres() + 1)]
    workers = [each for data in databases for each in find_working_in(data, "postgres")]
    return [*find_marked(place.mark), *workers]


def state_of(home: Path) -> State:
    """What the supervisor wrote down last."""
    state = read_state(Home(home))
    assert state is not None
    return state


def identity_of(home: Path, name: str) -> Identity:
    """The process that plays the part now."""
    found = next(each.identity for each in state_of(home).processes if each.name == name)
    assert found is not None
    return found


@dataclass
class Supervised:
    """A stack whose supervisor is another process."""

    process: "subprocess.Popen[str]"
    home: Path
    environment: dict[str, str]

    @property
    def postgres(self) -> str:
        return json.loads(self.environment["TINTYPE_POSTGRES"])[0]


Supervise = Callable[..., Supervised]


@pytest.fixture
def supervise(home: Path) -> Iterator[Supervise]:
    """Starts a supervisor process and returns once all is ready; whatever is left ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*roles: str, prefix: tuple[str, ...] = ()) -> Supervised:
        command = [*prefix, sys.executable, str(HERE / "supervise.py"), str(home), *roles]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/")
        started.append(process)
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said, f"the supervisor ended with {process.wait()}"
        return Supervised(process, home, json.loads(said))

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
    """Who may do what with a path."""
    return path.stat().st_mode & 0o777


async def connect(dsn: str) -> asyncpg.Connection:
    """A connection of one's own."""
    return cast("asyncpg.Connection", await asyncpg.connect(dsn, timeout=10))


async def ask(dsn: str, sql: str) -> object:
    """The one value that a query returns."""
    connection = await connect(dsn)
    try:
        return cast("object", await connection.fetchval(sql))
    finally:
        await connection.close()


async def execute(dsn: str, sql: str) -> None:
    """Have a statement done."""
    connection = await connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def until(fact: Callable[[], bool], timeout_s: float = 60.0) -> None:
    """Wait until something has become true."""
    async with asyncio.timeout(timeout_s):
        while not fact():  # noqa: ASYNC110 - facts about other processes announce themselves to nobody
            await asyncio.sleep(0.02)
