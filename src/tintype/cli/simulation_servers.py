"""Throw-away installations for `tintype simulate`: own databases, own Redis and NATS namespace, own worker process."""

import asyncio
import os
import secrets
import sys
import tempfile
import time
from asyncio.subprocess import Process, create_subprocess_exec
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from asyncpg import InsufficientPrivilegeError
from nats.js.errors import Error as StreamError
from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector

from tintype.base.jobs import Handler
from tintype.base.metrics import VARIABLE as METRICS_FOLDER
from tintype.base.metrics import make_shared_folder
from tintype.base.settings import LISTS, PREFIX, Settings
from tintype.cli.running_stack import open_jetstream
from tintype.redis.connect import connect_redis
from tintype.schema import apply_schema
from tintype.simulation import ENTRIES, Installation
from tintype.stack import Stack, StartFailed
from tintype.wiring import open_rooms
from tintype.worker import connect_to_server, durables_of

SHARDS = 8
READY_S, POLL_S, STOP_S = 90.0, 0.2, 20.0
DELETE_BATCH = 1_000


@dataclass(frozen=True)
class SimulationServers:
    """Running servers on which installations are created; those share nothing with other data there but capacity."""

    postgres: tuple[str, ...]
    redis: str
    nats: tuple[str, ...]
    home: Path

    @asynccontextmanager
    async def build(self, threshold: int) -> AsyncGenerator[Installation]:
        """Create an empty installation with this push threshold; it is deleted afterwards."""
        name = f"simulate_{secrets.token_hex(6)}"
        async with AsyncExitStack() as stack:
            databases = await stack.enter_async_context(_databases(self.postgres, name))
            settings = self._settings(name, databases, threshold)
            stack.push_async_callback(_delete_streams_and_keys, settings)
            await apply_schema(settings)
            rooms = await stack.enter_async_context(open_rooms(settings, process="simulate"))
            counters = make_shared_folder(self.home / name)
            worker = await stack.enter_async_context(_worker(settings, rooms.handlers(), counters))
            yield Installation(rooms, lambda: _cpu_s(worker.pid), lambda: _entries(counters))

    def _settings(self, name: str, postgres: tuple[str, ...], threshold: int) -> Settings:
        return Settings(
            home=self.home,
            postgres=postgres,
            redis=self.redis,
            nats=self.nats,
            namespace=name,
            shard_count=SHARDS,
            feed_push_followers=max(1, threshold),  # an author without followers is no celebrity
            posts_per_day=100_000,
            secret_key=secrets.token_hex(16),
            log_level="error",
        )


@asynccontextmanager
async def start_servers() -> AsyncGenerator[SimulationServers]:
    """Start separate servers in a temporary directory, for the length of the block."""
    with _temporary_home() as home:
        async with Stack(home / "home", postgres_servers=2, engines_only=True, durable=False) as stack:
            found = stack.connections
            yield SimulationServers(found.postgres, found.redis, found.nats, home)


@asynccontextmanager
async def use_running_servers(settings: Settings) -> AsyncGenerator[SimulationServers]:
    """Use the servers of a running installation, without touching its data."""
    with _temporary_home() as home:
        # Its databases are its own: the roles of the installation have no rights in them, and may not create any.
        yield SimulationServers(
            settings.postgres_admin or settings.postgres, settings.redis, settings.nats, home
        )


@contextmanager
def _temporary_home() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="tintype-simulate-") as folder:
        home = Path(folder)
        home.chmod(0o711)  # as root, the servers run as another account, which must traverse it
        yield home


@asynccontextmanager
async def _databases(dsns: Sequence[str], name: str) -> AsyncGenerator[tuple[str, ...]]:
    """Create a database on each server, and drop it afterwards."""
    try:
        for dsn in dsns:
            await _create(dsn, name)
        yield tuple(urlunsplit(urlsplit(dsn)._replace(path=f"/{name}")) for dsn in dsns)
    finally:
        for dsn in dsns:
            async with connect_to_server(dsn) as connection:
                await connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


async def _create(dsn: str, name: str) -> None:
    async with connect_to_server(dsn) as connection:
        try:
            await connection.execute(f'CREATE DATABASE "{name}"')
        except InsufficientPrivilegeError as error:
            raise StartFailed(
                "The simulation needs its own databases, and the role it connects as may not create any. "
                "Grant it CREATEDB, or simulate without --live."
            ) from error


@asynccontextmanager
async def _worker(settings: Settings, handlers: Sequence[Handler], counters: str) -> AsyncGenerator[Process]:
    """Run a worker process, the same that `tintype up` starts, once it has a consumer for every handler."""
    process = await create_subprocess_exec(
        sys.executable, "-m", "tintype", "worker", env={**_environment(settings), METRICS_FOLDER: counters}
    )
    try:
        await _wait_for_consumers(settings, set(durables_of(handlers)), process)
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.wait()


async def _wait_for_consumers(settings: Settings, wanted: set[str], process: Process) -> None:
    # The stream keeps an event only for consumers that exist when it arrives.
    deadline = time.monotonic() + READY_S
    async with open_jetstream(settings) as (js, names):
        found: set[str] = set()
        while not wanted <= found:
            if process.returncode is not None or time.monotonic() > deadline:
                raise StartFailed("The simulation's worker process did not start.")
            await asyncio.sleep(POLL_S)
            with suppress(StreamError):  # the worker has not created the stream yet
                found = {each.name for each in await js.consumers_info(names.events_stream)}


async def _delete_streams_and_keys(settings: Settings) -> None:
    """Delete the installation's NATS streams and Redis keys."""
    async with open_jetstream(settings) as (js, names):
        for stream in (names.events_stream, names.dead_stream):
            with suppress(StreamError):  # it was never created
                await js.delete_stream(stream)
    async with connect_redis(settings) as redis:
        found = cast("AsyncIterator[bytes]", redis.scan_iter(f"{settings.namespace}:*", count=DELETE_BATCH))
        keys = [key async for key in found]
        for start in range(0, len(keys), DELETE_BATCH):
            await redis.unlink(*keys[start : start + DELETE_BATCH])


PASSED_SETTINGS = (
    "home",
    "postgres",
    "redis",
    "nats",
    "namespace",
    "shard_count",
    "feed_push_followers",
    "secret_key",
    "log_level",
)


def _environment(settings: Settings) -> dict[str, str]:
    """Environment that makes a process use exactly these settings, whatever file and variables exist here."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    chosen = {
        PREFIX + name.upper(): " ".join(value) if name in LISTS else str(value)
        for name in PASSED_SETTINGS
        if (value := getattr(settings, name))
    }
    return {**inherited, **chosen, f"{PREFIX}CONFIG": str(settings.home / "none.toml")}


def _entries(counters: str) -> float:
    """The worker's counter of pushed timeline entries, read from its shared metrics files."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=counters)
    return registry.get_sample_value(ENTRIES) or 0.0


def _cpu_s(pid: int) -> float:
    """CPU time that a process has used; 0 where /proc does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
