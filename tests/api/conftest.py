"""A site with a replica that lags, for the tests of one process."""

from collections.abc import AsyncIterator

import pytest

from tests.lagging_site import LaggingSite, open_lagging_site


@pytest.fixture(scope="session")
async def lagging_site() -> AsyncIterator[LaggingSite]:
    """Shared: everybody on it stays, so each file uses names of its own."""
    async with open_lagging_site() as site:
        yield site
