"""The small house of these tests."""

from collections.abc import AsyncIterator

import pytest

from tests.feed.world import World, open_world
from tintype.feed import fanning, lists, reading
from tintype.wiring import Rooms


@pytest.fixture
async def world(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """Parts, pages, scripts and windows are so small that a handful of people fills several of each."""
    monkeypatch.setattr(fanning, "PART", 2)
    monkeypatch.setattr(fanning, "PAGE", 1)
    monkeypatch.setattr(lists, "KEYS_PER_SCRIPT", 1)
    monkeypatch.setattr(lists, "SCRIPTS_AT_ONCE", 1)
    monkeypatch.setattr(reading, "WINDOW", 4)
    monkeypatch.setattr(lists, "HEAD", 6)
    async with open_world(rooms) as world:
        yield world
