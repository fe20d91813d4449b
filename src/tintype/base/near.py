"""What Redis holds, kept in this process for as long as Redis has not said that it changed.

Redis tells a connection when a key that was read there changes ("client-side caching", the third version of its
protocol). Such news and the answers to questions travel on one connection, in order: when the answer to a question is
here, so is the news of every change that came before it. Hence the rule of this place:

    whoever has asked Redis anything since its own work began may take from here without asking again.

What was changed before that work began is then never seen in its old state. A value that is on its way is kept only
where no news of a change has overtaken it, and nothing is kept from a connection that was lost.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=int | str)
T = TypeVar("T")


class Shelf(Generic[K, T]):
    """Values of one kind by their id, which is what follows the last colon of their key."""

    def __init__(self, read_id: Callable[[str], K], most: int) -> None:
        self.here: dict[K, T] = {}
        """Read it freely, by the rule above; never write to it."""
        self._expected: dict[K, object] = {}
        self._read_id, self._most = read_id, most

    def expect(self, ids: Iterable[K], asking: object) -> None:
        """These are about to be asked for; what arrives is kept only if nothing has changed since."""
        for each in ids:
            self._expected[each] = asking

    def keep(self, each: K, value: T, asking: object) -> None:
        """A value has arrived."""
        if self._expected.get(each) is not asking:
            return
        del self._expected[each]
        if each not in self.here and len(self.here) >= self._most:
            del self.here[next(iter(self.here))]
        self.here[each] = value

    def give_up(self, ids: Iterable[K], asking: object) -> None:
        """Nothing more will arrive of these."""
        for each in ids:
            if self._expected.get(each) is asking:
                del self._expected[each]

    def drop(self, name: str) -> None:
        """It has changed."""
        each = self._read_id(name)
        self.here.pop(each, None)
        self._expected.pop(each, None)

    def clear(self) -> None:
        """Nobody tells us of changes any more."""
        self.here.clear()
        self._expected.clear()


class Near:
    """Everything that is kept near. It is live while a connection tells of changes."""

    def __init__(self) -> None:
        self._shelves: dict[bytes, Shelf[Any, Any]] = {}
        self.is_live = False

    def shelf(self, start: str, read_id: Callable[[str], K], most: int, *more: str) -> Shelf[K, Any]:
        """The shelf for keys that begin with this, up to and with their last colon.

        For values that are made of several keys with the same id, there may be `more` beginnings.
        """
        shelf = self._shelves.get(start.encode())
        if shelf is None:
            shelf = Shelf[K, Any](read_id, most)
            self._shelves |= dict.fromkeys((each.encode() for each in (start, *more)), shelf)
        return shelf

    def begin(self) -> None:
        """A connection tells of changes from now on."""
        self.is_live = True

    def end(self) -> None:
        """It was lost, with whatever it would have told."""
        self.is_live = False
        self._clear()

    def changed(self, keys: list[bytes] | None) -> None:
        """Redis says that these have changed; None when it was emptied."""
        if keys is None:
            self._clear()
            return
        for key in keys:
            cut = key.rfind(b":") + 1
            shelf = self._shelves.get(key[:cut])
            if shelf is not None:
                shelf.drop(key[cut:].decode())

    def _clear(self) -> None:
        for shelf in set(self._shelves.values()):  # one may stand under hundreds of beginnings
            shelf.clear()
