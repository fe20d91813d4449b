"""One question to Redis whose answers are of one moment and stay near: see `near.py`."""

from collections.abc import Iterable, Sequence
from typing import Any

from tintype.base.near import Shelf
from tintype.base.wire import Command, Wire

WATCHED = ("CLIENT", "CACHING", "YES")
"""Redis tells of changes to whatever the next command, here a whole transaction, reads."""


class Bringing:
    """Collects commands, asks them together, and keeps what comes of them. Close it when done."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._commands: list[Command] = []
        self._expected: list[tuple[Shelf[Any, Any], Sequence[int | str]]] = []

    def add(
        self, command: Command, shelf: Shelf[Any, Any] | None = None, ids: Sequence[int | str] = ()
    ) -> None:
        """Ask this; the answer will tell the state of these ids of the shelf."""
        self._commands.append(command)
        if shelf is not None and self._wire.near.is_live:
            shelf.expect(ids, self)
            self._expected.append((shelf, ids))

    async def ask(self) -> list[Any]:
        """The answers in the order of the commands; one round trip."""
        watched: Iterable[Command] = (WATCHED,) if self._expected else ()
        return (await self._wire.ask(*watched, ("MULTI",), *self._commands, ("EXEC",)))[-1]

    def keep(self, shelf: Shelf[Any, Any], each: int | str, value: object) -> None:
        """What the answer said of one of the ids; kept unless it has changed meanwhile."""
        shelf.keep(each, value, self)

    def close(self) -> None:
        """Nothing more is kept of the answers."""
        for shelf, ids in self._expected:
            shelf.give_up(ids, self)
