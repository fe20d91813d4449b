"""Fixtures for tests of stories."""

from collections.abc import AsyncIterator

import pytest
from httpx import AsyncClient

from tests.stories.support import ServerClock
from tests.support import Person, join
from tintype.wiring import Rooms


@pytest.fixture
async def cy(client: AsyncClient) -> Person:
    return await join(client, "cy")


@pytest.fixture
async def clock(rooms: Rooms) -> AsyncIterator[ServerClock]:
    """Clocks that can be moved; afterwards they are reset, and today's partitions exist."""
    moved = ServerClock(rooms)
    yield moved
    await moved.reset()
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            await tx.connection.execute(
                f"SELECT common.add_story_days({number}, story_now() - interval '1 day', 4)"
            )


@pytest.fixture
async def friends(ana: Person, bo: Person) -> tuple[Person, Person]:
    """Bo follows ana."""
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    return ana, bo
