"""Which queries' dispatch functions fit which shards of a server; they differ while a migration is rolled out."""

import time
from collections.abc import Collection, Iterable

from shardwright.routing.queries import Query

MISFIT_S = 10.0  # how long a query runs without its function on a shard that the function does not fit


class QueryFit:
    """What calls have found out about one server."""

    __slots__ = ("_fitting", "misfits")

    def __init__(self) -> None:
        self.misfits: dict[tuple[Query, int], float] = {}
        """Queries whose function does not fit a shard, by when to try it again."""
        self._fitting: dict[Query, int] = {}  # a bit for each shard

    def is_misfit(self, query: Query, number: int) -> bool:
        """Whether the query's function was found not to fit this shard, so that the query runs without it."""
        until = self.misfits.get((query, number))
        if until is not None and until < time.monotonic():
            del self.misfits[query, number]
            return False
        return until is not None

    def misfits_among(self, query: Query, numbers: Iterable[int]) -> list[int]:
        """Those of these shards that the query's function does not fit."""
        return [number for number in numbers if self.is_misfit(query, number)] if self.misfits else []

    def mark_misfit(self, query: Query, number: int) -> None:
        """Execute the query itself on this shard, until the function is tried again."""
        self.misfits[query, number] = time.monotonic() + MISFIT_S
        self._fitting[query] = self._fitting.get(query, 0) & ~(1 << number)

    def mark_fit(self, query: Query, number: int) -> None:
        """Remember that the query's function has answered for this shard in a transaction."""
        self._fitting[query] = self._fitting.get(query, 0) | 1 << number

    def is_known_to_fit(self, query: Query, number: int) -> bool:
        """Whether the query's function has answered for this shard, so that a transaction needs no savepoint for it."""
        return bool(self._fitting.get(query, 0) >> number & 1)

    def forget(self, queries: Collection[Query]) -> None:
        """The functions of these queries are replaced: they must show again that they fit."""
        for query in queries:
            self._fitting.pop(query, None)

    def clear(self) -> None:
        """Forget everything."""
        self.misfits.clear()
        self._fitting.clear()
