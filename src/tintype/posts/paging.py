"""Pages of lists whose entries may not all be seen: what is left out leaves no gap."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from tintype.posts.models import Page

T = TypeVar("T")
K = TypeVar("K", bound=int)
MOST_ROUNDS = 5
"""A list of which next to nothing may be seen ends a page early rather than reading on for ever."""

Fetch = Callable[[int, int], Awaitable[Sequence[tuple[K, int]]]]
"""Entries before a place, at most so many: each with the place it has in the list."""
Show = Callable[[list[K]], Awaitable[dict[K, T]]]
"""Those of the entries that may be seen."""


async def fill_page(fetch: Fetch[K], show: Show[K, T], *, before: int, limit: int) -> Page[T]:
    """The next `limit` entries that may be seen."""
    shown: list[T] = []
    for _ in range(MOST_ROUNDS):
        entries = await fetch(before, limit + 1)
        seen = await show([each for each, _ in entries[:limit]])
        for each, place in entries[:limit]:
            before = place
            if each in seen:
                shown.append(seen[each])
            if len(shown) == limit:
                is_last = (each, place) == entries[-1]
                return Page(shown, None if is_last else before)
        if len(entries) <= limit:
            return Page(shown, None)
    return Page(shown, before)
