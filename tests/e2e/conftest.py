"""Browser flows share one running Tintype; each signs up its own users."""

from collections.abc import AsyncIterator

import pytest

from tests.living_stack import LivingStack, open_living_stack


@pytest.fixture(scope="session")
async def living_stack() -> AsyncIterator[LivingStack]:
    """A running Tintype, shared by all flows."""
    async with open_living_stack() as stack:
        yield stack


@pytest.fixture
async def empty_stack() -> AsyncIterator[LivingStack]:
    """A running Tintype of its own, without any users."""
    async with open_living_stack() as stack:
        yield stack
