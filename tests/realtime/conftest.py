"""Rooms, a worker and HTTP on a NATS server with MQTT."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.realtime.live_nats import LiveNats
from tests.support import PATIENCE_S, Person, RowCleaner, join
from tests.workers import run_worker
from tintype.base.settings import Settings
from tintype.wiring import Rooms, open_rooms
from tintype.worker import Worker


@pytest.fixture(scope="session")
async def live_nats(settings: Settings, run_folder: Path) -> AsyncIterator[LiveNats]:
    """The server, for all tests of this process."""
    server = LiveNats.prepare(settings, run_folder / f"nats-{settings.namespace}")
    await server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
async def opened_live_rooms(live_nats: LiveNats) -> AsyncIterator[Rooms]:
    async with open_rooms(live_nats.settings, process="tests") as rooms:
        yield rooms


@pytest.fixture
async def live_rooms(opened_live_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Rooms]:
    """The rooms of a site with live connections, empty."""
    yield opened_live_rooms
    await row_cleaner.run()
    await opened_live_rooms.redis.flushdb()
    # A test may have registered members of its own.
    opened_live_rooms.realtime.register_typing(opened_live_rooms.direct.list_typing_members)


@pytest.fixture
async def live_worker(live_rooms: Rooms) -> AsyncIterator[Worker]:
    """A worker that admits devices, carries out commands and handles every event."""
    async with run_worker(live_rooms, schedules=()) as worker:
        async with asyncio.timeout(PATIENCE_S):
            await live_rooms.realtime.started.wait()
        yield worker


@pytest.fixture
async def live_client(live_rooms: Rooms) -> AsyncIterator[AsyncClient]:
    async with serve(live_rooms) as client:
        yield client


@pytest.fixture
async def ana(live_client: AsyncClient) -> Person:
    return await join(live_client, "ana")


@pytest.fixture
async def bo(live_client: AsyncClient) -> Person:
    return await join(live_client, "bo")
