"""Pages of lists whose entries the viewer may not all see: hidden entries leave no gaps in a page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")
K = TypeVar("K", bound=int)
MAX_ROUNDS = 5
"""A page of a list with next to nothing to show ends early after so many reads, instead of reading on and on."""

Fetch = Callable[[int, int], Awaitable[Sequence[tuple[K, int]]]]
"""Reads entries before a cursor, at most so many, each with its own cursor."""
Show = Callable[[list[K]], Awaitable[dict[K, T]]]
"""Resolves those of the entries that the viewer may see."""


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A part of a list, and the cursor at which the next page begins, if there is one."""

    items: list[T]
    next_before: int | None


async def fill_page(fetch: Fetch[K], show: Show[K, T], *, before: int, limit: int) -> Page[T]:
    """Read on until there are `limit` entries that the viewer may see, or the list ends."""
    shown: list[T] = []
    for _ in range(MAX_ROUNDS):
        entries = await fetch(before, limit + 1)
        seen = await show([each for each, _ in entries[:limit]])
        for each, cursor in entries[:limit]:
            before = cursor
            if each in seen:
                shown.append(seen[each])
            if len(shown) == limit:
                is_last = (each, cursor) == entries[-1]
                return Page(shown, None if is_last else before)
        if len(entries) <= limit:
            return Page(shown, None)
    return Page(shown, before)
