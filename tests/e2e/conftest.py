"""Flows in a browser share one Tintype: each brings people of its own, as on any site."""

from collections.abc import AsyncIterator

import pytest

from tests.living_stack import LivingStack, open_living_stack


@pytest.fixture(scope="session")
async def living_stack() -> AsyncIterator[LivingStack]:
    """A whole Tintype that other flows use as well."""
    async with open_living_stack() as stack:
        yield stack


@pytest.fixture
async def empty_stack() -> AsyncIterator[LivingStack]:
    """One where nobody has ever been."""
    async with open_living_stack() as stack:
        yield stack
