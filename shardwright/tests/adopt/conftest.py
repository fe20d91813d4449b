"""A shop in one database, and two servers with empty shards of its tables."""

import contextlib
import os
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shardwright.adopt import Adopter, Plan, propose
from shardwright.local import LocalServer
from shardwright.topology import Directory, open_connection

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from adopt_test_site import OLD_TABLES, QUICK, ROWS, Load, make_shop_tables, remove_slots

PreparedDirectory = Callable[..., Awaitable[dict[str, str]]]
FreshDatabase = Callable[[LocalServer], Awaitable[str]]


OLD_SERVER = os.environ.get("SHARDWRIGHT_OLD_SERVER", "")
"""The address of a server of another release, which is adopted from; by default it is one of the tests' own."""


@contextlib.asynccontextmanager
async def elsewhere(server: str) -> AsyncGenerator[str]:
    """A new database on a server that is not the tests' own."""
    name = f"test_adopt_{os.getpid()}_{time.monotonic_ns()}"
    conn = await open_connection(server, "old")
    await conn.execute(f"CREATE DATABASE {name}")
    yield urlsplit(server)._replace(path=f"/{name}").geturl()
    await conn.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await conn.close()


@pytest.fixture
async def old_database(
    servers: Mapping[str, LocalServer], fresh_database: FreshDatabase
) -> AsyncIterator[str]:
    """The address of an empty database to be adopted from."""
    async with contextlib.AsyncExitStack() as stack:
        own = await stack.enter_async_context(elsewhere(OLD_SERVER)) if OLD_SERVER else None
        dsn = own or await fresh_database(servers["a"])
        yield dsn
        await remove_slots(dsn)


@pytest.fixture
async def old(old_database: str) -> str:
    """The address of the shop's database."""
    conn = await open_connection(old_database, "old")
    await conn.execute(OLD_TABLES + ROWS)
    await conn.close()
    return old_database


@pytest.fixture
def shards() -> int:
    return 8


@pytest.fixture
async def dsns(prepared_directory: PreparedDirectory, shards: int) -> AsyncIterator[dict[str, str]]:
    dsns = await prepared_directory(shards, make_shop_tables)
    yield dsns
    await remove_slots(*dsns.values())


@pytest.fixture
async def directory(dsns: dict[str, str]) -> AsyncIterator[Directory]:
    directory = await Directory.open(dsns["a"])
    yield directory
    await directory.close()


@pytest.fixture
async def plan(old: str) -> Plan:
    return (await propose(old)).plan


@pytest.fixture
def adopter(directory: Directory, old: str) -> Adopter:
    return Adopter(directory, old, options=QUICK)


@pytest.fixture
async def load(directory: Directory, old: str) -> AsyncIterator[Load]:
    load = Load(old, await directory.load())
    await load.start()
    yield load
    await load.stop()
