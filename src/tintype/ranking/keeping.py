"""What ranking keeps of a person: handed out on request, and gone when they go."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from shardwright.running import Shards
from tintype.base.belongings import Record
from tintype.base.ids import AccountId
from tintype.base.wire import Wire
from tintype.ranking.examples import QUERIES
from tintype.ranking.keys import Keys
from tintype.ranking.rows import AFFINITY, read

BATCH = 500
FILE = "ranking.json"


class Keeping:
    """The room's part in exports and departures."""

    def __init__(self, shards: Shards, wire: Wire, keys: Keys) -> None:
        self._shards, self._wire, self._keys = shards, wire, keys

    async def export(self, account_id: AccountId) -> AsyncIterator[Record]:
        """What was seen and what came of it, and whom the person is thought to be close to."""
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_examples, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["post_id"]
            for row in rows:
                told = {name: row[name] > 0 for name in ("liked", "commented", "saved", "shared")}
                yield Record(
                    FILE,
                    {"post_id": str(row["post_id"]), "spent_ms": row["spent_ms"], "arm": row["arm"], **told},
                )
        [blob] = await self._wire.ask(("GET", self._keys.affinity(account_id)))
        for key, value, at in read(blob, AFFINITY).tolist():
            moment = datetime.fromtimestamp(at, UTC).isoformat()
            yield Record(FILE, {"account_id": str(key), "closeness": round(value, 3), "at": moment})

    async def erase(self, account_id: AccountId) -> int:
        """Some examples, and everything in Redis."""
        [dropped] = await self._wire.ask(("DEL", *self._keys.of_viewer(account_id)))
        erased = await self._shards.owner(account_id).execute(
            QUERIES.erase_examples, account_id=account_id, limit=BATCH
        )
        return erased + int(dropped)

    async def count_left(self, account_id: AccountId) -> int:
        """Examples and names in Redis that are still there."""
        [names] = await self._wire.ask(("EXISTS", *self._keys.of_viewer(account_id)))
        left: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_examples_left, account_id=account_id
        )
        return left + int(names)
