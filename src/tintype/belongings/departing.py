"""Lets people go: at once invisible, for some days undecided, then erased in every room, and proved to be.

The work is a row on the person's own shard and a job that can be killed at any step: every room erases in batches that
may be repeated, and nothing is believed but a count of zero. The account's own row is the last to go, because it is
what tells everything else whose it was.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from shardwright.running import Queries, Shards
from tintype.accounts import Accounts, StatusChanged
from tintype.base.belongings import Belongings
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.belongings.events import DepartureDue
from tintype.belongings.models import Departure

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
EVERY_S = 600.0
LOST_AFTER_S = 1_800.0
STARTED_AT_ONCE = 100
ROUNDS = 5
"""Somebody else's request that was under way may still leave something behind: look again a few times."""
log = get_log("belongings")


class Leaving:
    """Departures, from the wish to the receipt."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        accounts: Accounts,
        rooms: Mapping[str, Belongings],
        *,
        last: Belongings | None,
        grace_days: int,
    ) -> None:
        self._shards, self._outbox, self._accounts = shards, outbox, accounts
        self._rooms, self._last, self._grace_days = rooms, last, grace_days

    @property
    def rooms(self) -> Mapping[str, Belongings]:
        """The rooms that are emptied, in their order."""
        return self._rooms

    async def request(self, account_id: AccountId, password: str) -> datetime:
        """Leave: invisible at once, signed out everywhere, erased after the days of grace; returns when."""
        await self._accounts.credentials.check_password(account_id, password)
        await self._want(account_id)
        await self._accounts.begin_leaving(account_id)
        # Again: until the status had changed, a late "came back" of an earlier wish could have removed the row.
        wish = await self._want(account_id)
        log.info("departure.requested", account_id=account_id)
        return wish.due_at

    async def find(self, account_id: AccountId) -> Departure | None:
        """How far somebody's departure has come."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.find_departure, account_id=account_id)
        return Departure(**row) if row else None

    async def cancel(self, change: StatusChanged) -> None:
        """Who signs in within the days of grace stays."""
        if change.status == "active":
            await self._shards.owner(change.account_id).execute(
                QUERIES.cancel_departure, account_id=change.account_id
            )

    async def start_due(self) -> None:
        """Begin what is due, and begin again what was lost."""
        due = await self._shards.everywhere().fetch(
            QUERIES.departures_due, patience_s=LOST_AFTER_S, limit=STARTED_AT_ONCE
        )
        for row in due:
            await self.start(AccountId(row["account_id"]))

    async def start(self, account_id: AccountId) -> None:
        """Close the account for good and hand it to the worker, unless its owner has come back."""
        async with self._shards.owner(account_id).begin() as tx:
            status = await tx.fetch_one(QUERIES.find_status, account_id=account_id)
            if await tx.fetch_one(QUERIES.lock_departure, account_id=account_id) is None:
                return
            if status is not None and status["status"] not in {"leaving", "gone"}:
                await tx.execute(QUERIES.drop_departure, account_id=account_id)
                return
            await tx.execute(QUERIES.close_account, account_id=account_id)
            await tx.execute(QUERIES.start_departure, account_id=account_id)
            await self._outbox.add(tx, DepartureDue(account_id))
        await self._accounts.forget(account_id)
        log.info("departure.started", account_id=account_id)

    async def depart(self, event: DepartureDue) -> None:
        """Erase everything, room by room, until every room counts zero; then the account; then look once more."""
        account_id = event.account_id
        wish = await self.find(account_id)
        if wish is None or wish.started_at is None:
            return
        await self._empty(account_id, self._rooms)
        if self._last is not None:
            await self._empty(account_id, {"accounts": self._last})
        await self._empty(account_id, self._rooms)
        async with self._shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.note_departed, account_id=account_id)
            await tx.execute(QUERIES.drop_departure, account_id=account_id)
        await self._accounts.forget(account_id)
        log.info("departure.ended", account_id=account_id)

    def handlers(self) -> list[Handler]:
        """The worker erases, and hears of those who come back."""
        return [
            on(DepartureDue, self.depart, name="belongings-depart", concurrency=4),
            on(StatusChanged, self.cancel, name="belongings-return"),
        ]

    def schedules(self) -> list[Schedule]:
        """Every ten minutes."""
        return [Schedule("departures", EVERY_S, self.start_due)]

    async def _want(self, account_id: AccountId) -> Departure:
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.want_departure, account_id=account_id, grace_days=self._grace_days
        )
        assert row is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        return Departure(**row)

    async def _empty(self, account_id: AccountId, rooms: Mapping[str, Belongings]) -> None:
        left: dict[str, int] = {}
        for _ in range(ROUNDS):
            for name, room in rooms.items():
                await self._erase(account_id, name, room)
            left = {name: await room.count_left(account_id) for name, room in rooms.items()}
            if not any(left.values()):
                return
        raise Unavailable(f"Something is still there: {left}", account_id=account_id)

    async def _erase(self, account_id: AccountId, name: str, room: Belongings) -> None:
        shard = self._shards.owner(account_id)
        while erased := await room.erase(account_id):
            await shard.execute(QUERIES.note_departure, account_id=account_id, room=name, erased=erased)
