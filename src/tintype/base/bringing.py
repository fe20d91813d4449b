"""One question to Redis whose answers are of one moment and stay near: see `near.py`."""

from collections.abc import Iterable, Sequence
from typing import Any

from tintype.base.near import Shelf
from tintype.base.wire import Command, Wire

WATCHED = ("CLIENT", "CACHING", "YES")
"""Redis tells of changes to whatever the next command, here a whole transaction, reads."""
PING, MULTI, EXEC = ("PING",), ("MULTI",), ("EXEC",)


class Bringing:
    """Collects commands, asks them together, and keeps what comes of them. Close it when done."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._commands: list[Command] = []
        self._expected: list[tuple[Shelf[Any, Any], Sequence[int | str]]] = []
        self._places: dict[tuple[Shelf[Any, Any], int | str], slice] = {}
        self._answers: list[Any] = []

    def add(
        self, command: Command, shelf: Shelf[Any, Any] | None = None, ids: Sequence[int | str] = ()
    ) -> None:
        """Ask this; the answer will tell the state of these ids of the shelf."""
        self._commands.append(command)
        if shelf is not None and self._wire.near.is_live:
            shelf.expect(ids, self)
            self._expected.append((shelf, ids))

    def add_for(self, shelf: Shelf[Any, Any], each: int | str, *commands: Command) -> None:
        """Ask these, of whose answers something is made for the shelf; `answers_for` has them."""
        start = len(self._commands)
        self.add(commands[0], shelf, [each])
        self._commands += commands[1:]
        self._places[shelf, each] = slice(start, len(self._commands))

    def answers_for(self, shelf: Shelf[Any, Any], each: int | str) -> list[Any] | None:
        """What was answered to `add_for`; nothing where it was not asked."""
        place = self._places.get((shelf, each))
        return None if place is None else self._answers[place]

    async def ask(self) -> list[Any]:
        """The answers in the order of the commands; one round trip, even where there is nothing to ask."""
        if not self._commands:
            await self._wire.ask(PING)
            return self._answers
        watched: Iterable[Command] = (WATCHED,) if self._expected else ()
        self._answers = (await self._wire.ask(*watched, MULTI, *self._commands, EXEC))[-1]
        return self._answers

    def keep(self, shelf: Shelf[Any, Any], each: int | str, value: object) -> None:
        """What the answer said of one of the ids; kept unless it has changed meanwhile."""
        shelf.keep(each, value, self)

    def close(self) -> None:
        """Nothing more is kept of the answers."""
        for shelf, ids in self._expected:
            shelf.give_up(ids, self)
