"""Concurrent work on several connections, all of which is over before anything else happens on them."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(work: Iterable[Awaitable[T]]) -> list[T]:
    """Wait for all of them, also for those that go on while another one fails; then raises the first error."""
    results = await asyncio.gather(*work, return_exceptions=True)
    found: list[T] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found
