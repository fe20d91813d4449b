"""People who know each other by writing: the two of a thread that both have accepted, with messages in it."""

from collections.abc import Iterable

from tintype.base.ids import AccountId, has_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import pair_shard


class Acquaintances:
    """Finds whom somebody exchanges messages with."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards = deps.shards

    async def find(self, account_id: AccountId, others: Iterable[AccountId]) -> set[AccountId]:
        """Those of the others who share an accepted thread with somebody; one query for each shard of such threads."""
        pairs: dict[int, list[tuple[AccountId, AccountId]]] = {}
        for other in others:
            if other != account_id and has_shard(self._shards, other):
                pair = (min(account_id, other), max(account_id, other))
                pairs.setdefault(pair_shard(self._shards, *pair).number, []).append(pair)
        found: set[AccountId] = set()
        for number, some in pairs.items():
            rows = await self._shards.shard(number).fetch(
                QUERIES.gather_accepted_pairs,
                low_ids=[low for low, _ in some],
                high_ids=[high for _, high in some],
            )
            found |= {AccountId(each) for row in rows for each in (row["low_id"], row["high_id"])}
        return found - {account_id}
