"""In-process notification whose outcome is Redis commands: they go out in one round trip with the announcer's own.

As `base/listeners.py`: what a listener's commands do before the caller gets its answer, a handler of the event does
again, in case the process dies in between.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from tintype.redis.client import Command

T = TypeVar("T")


class CommandListeners(Generic[T]):
    """Functions that say which commands follow from what has happened."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], list[Command]]] = []

    def add(self, listener: Callable[[T], list[Command]]) -> None:
        """Ask this function at every `commands` from now on."""
        self._listeners.append(listener)

    def commands(self, news: T) -> list[Command]:
        """The commands of all listeners, in the order they were added; the caller sends them."""
        return [command for listener in self._listeners for command in listener(news)]
