"""Installations filled with generated people, on one shared set of servers, for benchmarks of the feed."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit, urlunsplit

import psutil
from argon2 import PasswordHasher

from bench.site_processes import environment_of, free_port, settings_for, started, wait_for
from tintype.base.ids import AccountId
from tintype.schema import apply_schema
from tintype.simulation import (
    BulkFill,
    SimulatedPerson,
    SimulationOptions,
    count_followers,
    generate_people,
)
from tintype.stack import Connections
from tintype.wiring import Rooms, open_rooms
from tintype.worker import connect_to_server

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
async def installation(
    found: Connections, name: str, *, threshold: int = 10_000, shards: int = SHARDS
) -> AsyncGenerator[Rooms]:
    """Create an empty installation with its own databases and namespace."""
    settings = settings_for(
        found,
        postgres=tuple([await _database(dsn, name) for dsn in found.postgres]),
        namespace=name,
        shard_count=shards,
        feed_push_followers=threshold,
    )
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
        everyone, _ = await populate(rooms, people)
        readers = [person.number for person in everyone if person.habit.reads_a_day]
        chosen = spread(readers, viewers)
        tokens = [(await rooms.authentication.sign_in(f"sim_{number}", PASSWORD)).token for number in chosen]
        port = free_port()
        arguments = ["-m", "tintype", "web", "--port", str(port)]
        with started(arguments, environment_of(rooms.settings)) as web:
            await wait_for(port)
            yield PopulatedInstallation(people, rooms.settings.postgres, port, web, tokens)


async def populate(rooms: Rooms, people: int) -> tuple[list[SimulatedPerson], list[AccountId]]:
    """Create people who follow each other and have posted; returns them and, by their number, their ids."""
    everyone = await asyncio.to_thread(generate_people, SimulationOptions(people=people, follows=FOLLOWS))
    threshold = rooms.settings.feed_push_followers
    celebrities = [number for number, count in count_followers(everyone).items() if count >= threshold]
    ids = await BulkFill(rooms.shards).add_people(
        everyone, history=HISTORY, celebrities=celebrities, password_hash=CHEAP.hash(PASSWORD)
    )
    await _vacuum(rooms.settings.postgres)
    return everyone, ids


def spread(numbers: Sequence[int], count: int) -> Sequence[int]:
    """So many of these numbers, evenly spread over all of them."""
    return numbers[:: max(1, len(numbers) // count)][:count]


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
