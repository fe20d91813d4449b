"""Real engines for every test: started once per run, apart for each test process, emptied between tests."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from httpx import AsyncClient

from shardwright.local import make_memory_folder
from tests.application import serve
from tests.held_connections import SecondConnections, watch_second_connections
from tests.living_stack import LivingStack, open_living_stack
from tests.repeated_work import hash_cheaply, process_each_photo_once
from tests.support import Person, RowCleaner, join
from tests.template_databases import copy_template
from tests.workers import run_worker
from tintype.base.nats import NatsNames
from tintype.base.settings import Settings
from tintype.stack.binaries import find_valkey
from tintype.wiring import Rooms, open_rooms
from tintype.worker import Worker

CHECKOUT = Path(__file__).resolve().parent.parent
RUN_FOLDER = pytest.StashKey[Path]()
START_PATIENCE_S = 240
PROCESS = os.environ.get("PYTEST_XDIST_WORKER", "main")


def pytest_configure(config: pytest.Config) -> None:
    handed_down = cast("dict[str, str]", getattr(config, "workerinput", {})).get("tintype_run_folder")
    folder = Path(handed_down) if handed_down else make_memory_folder("tintype-tests-")
    folder.chmod(0o711)  # the account that runs the servers for root passes through
    config.stash[RUN_FOLDER] = folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # xdist's WorkerController ships without types
    node.workerinput["tintype_run_folder"] = str(node.config.stash[RUN_FOLDER])


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    folder = config.stash[RUN_FOLDER]
    (folder / "stop").touch()
    pid_file = folder / "pid"
    if pid_file.exists():
        pid = int(pid_file.read_text())
        deadline = time.monotonic() + START_PATIENCE_S
        while Path(f"/proc/{pid}/exe").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> Path:
    """A folder of this run, gone at its end."""
    return request.config.stash[RUN_FOLDER]


@pytest.fixture(scope="session")
def engines(run_folder: Path) -> dict[str, Any]:
    """Addresses of the run's engines; the first test process that asks starts them."""
    ready = run_folder / "addresses.json"
    with (run_folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (run_folder / "pid").exists():
            leader = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
            _start_engines(run_folder, leader)
    deadline = time.monotonic() + START_PATIENCE_S
    while not ready.exists():
        if time.monotonic() > deadline:
            pytest.fail("the engines did not start:\n" + (run_folder / "engines.log").read_text()[-4000:])
        time.sleep(0.05)
    return json.loads(ready.read_text())


def _start_engines(folder: Path, leader: int) -> None:
    """Start them as nobody's child: they outlive the test process that happened to ask first."""
    shell = 'exec "$0" -m tests.engines "$1" "$2" >"$1/engines.log" 2>&1 </dev/null & echo $! >"$1/pid"'
    command = ["/bin/sh", "-c", shell, sys.executable, str(folder), str(leader)]
    subprocess.run(command, cwd=CHECKOUT, check=True)


@pytest.fixture(scope="session")
def own_redis(run_folder: Path) -> Iterator[str]:
    """A Valkey of this test process alone; gone with it, however it ends.

    A database of a common one would not do: when one test process empties its own, the server tells every client.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--requirepass", "tests", "--save", ""]
    shell = ["/bin/sh", "-c", '"$@" >/dev/null & read -r _; kill $!', "-", str(find_valkey().path), *options]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, cwd=run_folder) as server:
        deadline = time.monotonic() + START_PATIENCE_S
        while not _answers(port):
            assert time.monotonic() < deadline, "Valkey did not start"
            time.sleep(0.02)
        yield f"redis://:tests@127.0.0.1:{port}/15"
        server.communicate()  # the end of its input is what it waits for


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session", autouse=True)
def cheap_hashes() -> Iterator[None]:
    """No test waits for real password hashes."""
    with hash_cheaply():
        yield


@pytest.fixture(scope="session", autouse=True)
def photos_processed_once() -> Iterator[None]:
    """Tests that are not about the pipeline get copies of what it made of the same photo."""
    with process_each_photo_once():
        yield


@pytest.fixture(scope="session", autouse=True)
def second_connections() -> Iterator[SecondConnections]:
    """Calls for a connection by tasks that held one."""
    with watch_second_connections() as found:
        yield found


@pytest.fixture(autouse=True)
def one_connection_at_a_time(second_connections: SecondConnections) -> Iterator[None]:
    """No task asks for a connection while it holds one: under load those would wait for each other."""
    second_connections.take()
    yield
    traces = second_connections.take()
    if traces:
        pytest.fail("asked for a second connection while holding one:\n" + "\n".join(traces[:3]))


@pytest.fixture(scope="session")
async def settings(engines: dict[str, Any], own_redis: str, run_folder: Path) -> Settings:
    """Settings of this test process alone: own databases, own Redis, own namespace, eight shards."""
    home = run_folder / f"home-{PROCESS}"
    home.mkdir()
    made = Settings(
        home=home,
        redis=own_redis,
        nats=tuple(engines["nats"]),
        namespace=f"test_{PROCESS}",
        secret_key="not a secret in tests",
        outbox_keep_s=3600,
        job_attempts=4,
        log_level="error",
    )
    return await copy_template(made, engines["postgres"], f"tintype_{PROCESS}", run_folder)


@pytest.fixture(scope="session")
async def opened_rooms(settings: Settings) -> AsyncIterator[Rooms]:
    """The rooms, opened once."""
    async with open_rooms(settings, process="tests") as rooms:
        yield rooms


@pytest.fixture(scope="session")
async def row_cleaner(settings: Settings) -> AsyncIterator[RowCleaner]:
    """Empties the tables of this test process."""
    async with RowCleaner.open(settings.postgres_admin) as cleaner:
        yield cleaner


@pytest.fixture
async def rooms(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Rooms]:
    """The rooms, empty."""
    yield opened_rooms
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


@pytest.fixture
async def working(rooms: Rooms) -> AsyncIterator[Worker]:
    """A worker that runs beside the test and handles every event; it runs no schedule."""
    async with run_worker(rooms, schedules=()) as worker:
        yield worker


@pytest.fixture
async def working_on_schedule(rooms: Rooms) -> AsyncIterator[Worker]:
    """A worker that runs beside the test, with every schedule too, each of which is due at once."""
    async with run_worker(rooms) as worker:
        yield worker


@pytest.fixture
async def clean_streams(rooms: Rooms) -> AsyncIterator[None]:
    """Streams of this test process are gone before and after."""
    names = NatsNames(rooms.settings.namespace)
    js = rooms.nats.jetstream()

    async def remove() -> None:
        for stream in await js.streams_info():
            if stream.config.name in {names.events_stream, names.dead_stream}:
                await js.delete_stream(stream.config.name)

    await remove()
    yield
    await remove()


@pytest.fixture
async def client(rooms: Rooms) -> AsyncIterator[AsyncClient]:
    """A client of the API, not signed in."""
    async with serve(rooms) as client:
        yield client


@pytest.fixture
async def ana(client: AsyncClient) -> Person:
    return await join(client, "ana")


@pytest.fixture
async def bo(client: AsyncClient) -> Person:
    return await join(client, "bo")


@pytest.fixture
async def living_stack() -> AsyncIterator[LivingStack]:
    """A whole Tintype of this test's own, running, on two PostgreSQL servers."""
    async with open_living_stack() as stack:
        yield stack
