"""Installations filled with generated people, on one shared set of servers, for benchmarks of the feed."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import cast
from urllib.parse import urlsplit, urlunsplit

import psutil
from argon2 import PasswordHasher

from bench.social_sites import NO_REFUSALS, wait_for
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.simulation import BulkFill, SimulationOptions, count_followers, generate_people
from tintype.stack import Connections, Stack
from tintype.wiring import Rooms, open_rooms
from tintype.worker import connect_to_server

CHECKOUT = Path(__file__).resolve().parent.parent
SHARDS = 16
VACUUM_S = 600
PASSWORD = "a sentence for the bench"  # noqa: S105 - of no real account
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
FOLLOWS, HISTORY = 20, 4


@dataclass(frozen=True)
class PopulatedInstallation:
    """An installation in its own databases, with a web process that serves it."""

    people: int
    databases: Sequence[str]
    port: int
    web: psutil.Process
    tokens: list[str]
    """Session tokens of some of the people who read."""

    async def buffers(self) -> int:
        """Pages that PostgreSQL has read for this installation, from its cache or from disk."""
        return sum([await _buffers(dsn) for dsn in self.databases])


@asynccontextmanager
async def engines(servers: int = 2) -> AsyncGenerator[tuple[Connections, dict[str, list[psutil.Process]]]]:
    """Start PostgreSQL, Valkey and NATS for the length of the block; yields their addresses and processes by name."""
    with tempfile.TemporaryDirectory(prefix="tintype-bench-") as folder:
        Path(folder).chmod(0o711)  # noqa: ASYNC240 - one call; the servers' account must traverse it
        before = {each.pid for each in psutil.Process().children(recursive=True)}
        home = Path(folder) / "home"
        async with Stack(home, postgres_servers=servers, engines_only=True, durable=False) as stack:
            made = [each for each in psutil.Process().children(recursive=True) if each.pid not in before]
            tops = [each for each in made if each.ppid() not in {one.pid for one in made}]
            parts = {
                name: [each for each in tops if name in each.name()]
                for name in ("postgres", "valkey", "nats")
            }
            yield stack.connections, parts


@asynccontextmanager
async def installation(found: Connections, name: str, *, threshold: int = 10_000) -> AsyncGenerator[Rooms]:
    """Create an empty installation with its own databases and namespace."""
    settings = Settings(
        home=found.home,
        postgres=tuple([await _database(dsn, name) for dsn in found.postgres]),
        redis=found.redis,
        nats=found.nats,
        namespace=name,
        shard_count=SHARDS,
        log_level="error",
        secret_key="of a bench",
        feed_push_followers=threshold,
    )
    set_up_log(settings, process="bench")
    await apply_schema(settings)
    async with open_rooms(settings, process="bench") as rooms:
        rooms.accounts.use_hasher(CHEAP)
        yield rooms


@asynccontextmanager
async def populated_installation(
    found: Connections, people: int, viewers: int
) -> AsyncGenerator[PopulatedInstallation]:
    """Create an installation of this many people, who follow each other and have posted, with a web process."""
    async with installation(found, f"people_{people}") as rooms:
        everyone = await asyncio.to_thread(generate_people, SimulationOptions(people=people, follows=FOLLOWS))
        threshold = rooms.settings.feed_push_followers
        celebrities = [number for number, count in count_followers(everyone).items() if count >= threshold]
        await BulkFill(rooms.shards).add_people(
            everyone, history=HISTORY, celebrities=celebrities, password_hash=CHEAP.hash(PASSWORD)
        )
        await _vacuum(rooms.settings.postgres)
        readers = [person.number for person in everyone if person.habit.reads_a_day]
        chosen = readers[:: max(1, len(readers) // viewers)][:viewers]
        tokens = [(await rooms.authentication.sign_in(f"sim_{number}", PASSWORD)).token for number in chosen]
        with _web(rooms.settings) as (port, process):
            await wait_for(port)
            yield PopulatedInstallation(
                people, rooms.settings.postgres, port, psutil.Process(process.pid), tokens
            )


def cpu_s(*processes: psutil.Process) -> float:
    """CPU time of these processes and their children, including children that have exited."""
    total = 0.0
    for each in (one for top in processes for one in (top, *top.children(recursive=True))):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it exited since it was listed
        total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def _web(settings: Settings) -> Generator[tuple[int, "Popen[bytes]"]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    chosen = {
        "HOME": str(settings.home),
        "POSTGRES": " ".join(settings.postgres),
        "REDIS": settings.redis,
        "NATS": " ".join(settings.nats),
        "NAMESPACE": settings.namespace,
        "SHARD_COUNT": str(settings.shard_count),
        "SECRET_KEY": settings.secret_key,
        "LOG_LEVEL": "error",
        "RATE_LIMITS": NO_REFUSALS,
    }
    environment = os.environ | {f"TINTYPE_{name}": value for name, value in chosen.items()}
    command = [sys.executable, "-m", "tintype", "web", "--port", str(port)]
    process = Popen(command, env=environment, cwd=CHECKOUT)
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(10)


async def _database(dsn: str, name: str) -> str:
    async with connect_to_server(dsn) as connection:
        await connection.execute(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{name}"))


async def _vacuum(dsns: Sequence[str]) -> None:
    """Collect statistics and set hint bits, as in a database that has been in use for a while."""
    for dsn in dsns:
        async with connect_to_server(dsn) as connection:
            await connection.execute("VACUUM (ANALYZE)", timeout=VACUUM_S)


async def _buffers(dsn: str) -> int:
    query = "SELECT blks_hit + blks_read AS pages FROM pg_stat_database WHERE datname = current_database()"
    async with connect_to_server(dsn) as connection:
        return int(cast("int", await connection.fetchval(query)))
