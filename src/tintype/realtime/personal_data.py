"""Export and erasure of what the realtime room stores about a person."""

from collections.abc import AsyncIterator

from shardwright.routing import Shards
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.realtime.activity import ActivityLog
from tintype.realtime.store import QUERIES


class RealtimePersonalData:
    """One person's choice about their presence, and when they were last active."""

    def __init__(self, shards: Shards, activity: ActivityLog) -> None:
        self._shards, self._activity = shards, activity

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """The choice, where one was made."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.find_choice, account_id=account_id)
        if row is not None:
            yield ExportRecord("presence.json", {"is_shown": row["is_shown"]})

    async def erase(self, account_id: AccountId) -> int:
        """Delete the choice and the activity; returns how many rows."""
        await self._activity.forget(account_id)
        home = self._shards.owner(account_id)
        return int(await home.fetch_value(QUERIES.erase_choice, account_id=account_id))

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of a person are still stored."""
        home = self._shards.owner(account_id)
        return int(await home.fetch_value(QUERIES.count_left, account_id=account_id))
