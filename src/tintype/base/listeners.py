"""Synchronous in-process notification: a room calls its listeners and waits for them.

An event in the outbox reaches its handlers some moments later, in the worker. A listener runs in the process that made
the change, before the caller gets its answer, so that people see their own change at once. A process may die in
between: whatever a listener does must also be done by a handler of the event.

Rooms expose their listeners as an attribute (`posts.published`); `wiring.py` alone registers.
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Listeners(Generic[T]):
    """Functions that are called, one after another, with what has happened."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], Awaitable[None]]] = []

    def add(self, listener: Callable[[T], Awaitable[None]]) -> None:
        """Call this function at every `notify` from now on."""
        self._listeners.append(listener)

    async def notify(self, news: T) -> None:
        """Call every listener, in the order they were added; an exception of one of them is the caller's."""
        for listener in self._listeners:
            await listener(news)
