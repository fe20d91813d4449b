"""An installation of release 0.1.0, copied for each test."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from shardwright.topology import Directory

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from old_installation import Installation, OldRouter, build


@pytest.fixture
async def installation(
    prepared_databases: Callable[..., Awaitable[dict[str, str]]],
) -> AsyncIterator[Installation]:
    dsns = await prepared_databases("release_0_1_0", build)
    directory = await Directory.open(dsns["a"])
    yield Installation(directory, dsns)
    await directory.close()


@pytest.fixture
async def old_router(installation: Installation) -> AsyncIterator[OldRouter]:
    router = await OldRouter.open(installation.dsns)
    yield router
    await router.close()
