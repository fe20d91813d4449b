"""A dictionary with a size limit: the oldest entry is evicted when a new one does not fit."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedMap(dict[K, V]):
    """At most `max_entries` entries, evicted in the order of their first insertion (FIFO).

    Reads are those of a plain dict, which the hot paths count on: there is no bookkeeping per read, as an LRU would
    need. Write with `map[key] = value` only: the other ways to write to a dict do not evict.
    """

    __slots__ = ("max_entries",)

    def __init__(self, max_entries: int) -> None:
        super().__init__()
        self.max_entries = max(max_entries, 1)

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.max_entries and key not in self:
            del self[next(iter(self))]
        super().__setitem__(key, value)
