"""Export and erasure of what ranking holds about a person."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from shardwright.routing import Shards
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.ranking.keys import Keys
from tintype.ranking.row_layouts import AFFINITY, parse
from tintype.ranking.store import QUERIES
from tintype.redis.client import RedisClient

BATCH = 500
FILE = "ranking.json"
OUTCOME_COLUMNS = ("liked", "commented", "saved", "shared")


class RankingPersonalData:
    """Exports and erases training examples, and the features of a viewer in Redis."""

    def __init__(self, shards: Shards, redis_client: RedisClient, keys: Keys) -> None:
        self._shards, self._redis_client, self._keys = shards, redis_client, keys

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """The person's training examples, and whom ranking believes them to be close to."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_examples, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["post_id"]
            for row in rows:
                outcomes = {name: row[name] > 0 for name in OUTCOME_COLUMNS}
                yield ExportRecord(
                    FILE,
                    {
                        "post_id": str(row["post_id"]),
                        "spent_ms": row["spent_ms"],
                        "arm": row["arm"],
                        **outcomes,
                    },
                )
        [blob] = await self._redis_client.execute(("GET", self._keys.affinity(account_id)))
        for key, value, at in parse(blob, AFFINITY).tolist():
            moment = datetime.fromtimestamp(at, UTC).isoformat()
            yield ExportRecord(FILE, {"account_id": str(key), "closeness": round(value, 3), "at": moment})

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of training examples, and every key in Redis; returns how much."""
        [deleted] = await self._redis_client.execute(("DEL", *self._keys.all_of_viewer(account_id)))
        erased = await self._shards.owner(account_id).execute(
            QUERIES.erase_examples, account_id=account_id, limit=BATCH
        )
        return erased + int(deleted)

    async def count_left(self, account_id: AccountId) -> int:
        """How many training examples and keys in Redis are left."""
        [keys] = await self._redis_client.execute(("EXISTS", *self._keys.all_of_viewer(account_id)))
        left: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_examples_left, account_id=account_id
        )
        return left + int(keys)
