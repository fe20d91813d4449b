"""People that most tests of the graph need beside ana and bo."""

import pytest
from httpx import AsyncClient

from tests.support import Person, join


@pytest.fixture
async def cy(client: AsyncClient) -> Person:
    return await join(client, "cy")
