"""Fixtures for tests of direct messages."""

import pytest
from httpx import AsyncClient

from tests.direct.support import befriend
from tests.support import Person, join


@pytest.fixture
async def cy(client: AsyncClient) -> Person:
    return await join(client, "cy")


@pytest.fixture
async def friends(ana: Person, bo: Person, cy: Person) -> tuple[Person, Person, Person]:
    """Three people who follow each other."""
    await befriend(ana, bo, cy)
    return ana, bo, cy
