"""The stories room as others use it."""

from collections.abc import AsyncIterator
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.base.wire import Wire
from tintype.graph import Graph, Sight
from tintype.media import MediaLibrary
from tintype.ranking import Ranking

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


class Stories:
    """Stories, their viewers and highlights."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        sight: Sight,
        *,
        graph: Graph,
        media: MediaLibrary,
        ranking: Ranking,
        limiter: Limiter,
        wire: Wire,
        namespace: str,
    ) -> None:
        self._shards, self._outbox, self._sight, self._graph = shards, outbox, sight, graph
        self._media, self._ranking, self._limiter = media, ranking, limiter
        self._wire, self._namespace = wire, namespace

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:  # noqa: ARG002 - a room is asked by name
        """What this person has shown."""
        for record in ():
            yield record

    async def erase(self, account_id: AccountId) -> int:  # noqa: ARG002 - a room is asked by name
        """Remove some of it; returns how much."""
        return 0

    async def count_left(self, account_id: AccountId) -> int:  # noqa: ARG002 - a room is asked by name
        """How much of it there still is."""
        return 0

    def handlers(self) -> list[Handler]:
        """What this room does when something has happened."""
        return []

    def schedules(self) -> list[Schedule]:
        """What this room repeats by the clock."""
        return []
