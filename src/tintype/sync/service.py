"""The facade of the sync room."""

from collections.abc import Sequence
from datetime import datetime

from nats.aio.client import Client

from shardwright.routing import Shards
from tintype.base.ids import AccountId
from tintype.base.jobs import Schedule
from tintype.base.personal_data import PersonalDataHolder
from tintype.sync.log_writer import LogWriter, raw
from tintype.sync.models import LoggedUpdate, SyncPage, Update
from tintype.sync.personal_data import SyncPersonalData
from tintype.sync.retention import KEPT_UPDATES, SyncRetention
from tintype.sync.store import QUERIES


class Sync:
    """The update log of every account; nobody but the account's own clients reads it."""

    def __init__(self, shards: Shards, nats: Client) -> None:
        self._shards = shards
        self._writer = LogWriter(shards, nats)
        self._retention = SyncRetention(shards)
        self.personal_data: PersonalDataHolder = SyncPersonalData(shards)

    async def append(self, updates: Sequence[Update], *, are_new: bool = False) -> None:
        """Log updates, each key of an account once, then publish them to the account's topic.

        One statement per shard, whatever the number of updates. May be repeated as often as the caller likes: what is
        logged already is published again under its number, since who repeats may have died before that. Publishing
        is best effort at QoS 0: a client notices what it misses, and what it has, by the numbers. `are_new`: the caller
        believes that nobody has logged these keys yet, which makes it cheaper where it is so.
        """
        await self._writer.append(updates, are_new=are_new)

    async def redact(self, updates: Sequence[tuple[AccountId, str]]) -> None:
        """Empty logged updates, by account and key: say, of a message that was unsent. Their numbers stay."""
        await self._writer.redact(updates)

    async def read(self, account_id: AccountId, since: int | None, limit: int) -> SyncPage:
        """Updates with numbers above `since`, oldest first.

        `is_reset` where the log cannot say all that happened since: some of it is swept, the number was never assigned
        (a database was restored), or the client begins (None). Such a client fetches its state anew after this call.
        """
        position = -1 if since is None else since
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.read_updates, account_id=account_id, since=position, limit=limit
        )
        latest: int = rows[0]["latest"]
        oldest: int = rows[0]["oldest"] or latest + 1
        if since is None or since < oldest - 1 or since > latest:
            return SyncPage([], latest, is_reset=True)
        updates = [
            LoggedUpdate(row["seq"], row["kind"], row["created_at"], raw(row["payload"]))
            for row in rows
            if row["seq"] is not None
        ]
        return SyncPage(updates, latest, is_reset=False)

    async def sweep(self, now: datetime | None = None, *, kept: int = KEPT_UPDATES) -> None:
        """Delete updates that are kept no longer."""
        await self._retention.sweep(now, kept=kept)

    def schedules(self) -> list[Schedule]:
        """Sweep every hour."""
        return self._retention.schedules()
