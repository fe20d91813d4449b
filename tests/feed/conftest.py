"""The rooms of these tests."""

from collections.abc import AsyncIterator

import pytest

from tests.feed.world import World, open_world
from tintype.feed import fan_out, page_reader, post_lists
from tintype.wiring import Rooms


@pytest.fixture
async def world(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """Parts, pages, scripts and windows are so small that a handful of people fills several of each."""
    monkeypatch.setattr(fan_out, "PART_SIZE", 2)
    monkeypatch.setattr(fan_out, "PAGE_SIZE", 1)
    monkeypatch.setattr(post_lists, "KEYS_PER_SCRIPT", 1)
    monkeypatch.setattr(post_lists, "SCRIPTS_AT_ONCE", 1)
    monkeypatch.setattr(page_reader, "WINDOW", 4)
    monkeypatch.setattr(post_lists, "HEAD_LENGTH", 6)
    async with open_world(rooms) as world:
        yield world
