"""Account deletion: hidden at once, revocable for some days, then erased in every room, and verified.

A deletion is a row on the account's own shard and a job that can be killed at any step: every room erases in batches
that can be repeated, and only a count of zero proves that a room is done. The account's own row goes last, because the
rooms need it to find what belongs to it.
"""

from datetime import datetime

from tintype.accounts import StatusChanged
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.personal_data import Holders, PersonalDataHolder
from tintype.personal_data.dependencies import PersonalDataDependencies
from tintype.personal_data.events import DepartureDue
from tintype.personal_data.models import ErasureRequest
from tintype.personal_data.store import QUERIES

LOST_AFTER_S = 1_800.0
MAX_STARTED = 100
MAX_ROUNDS = 5
"""Requests of others that were in flight may leave rows behind: erase and count again a few times."""
log = get_log("personal_data")


class Erasure:
    """Deletes accounts, from the request to the receipt."""

    def __init__(
        self, dependencies: PersonalDataDependencies, holders: Holders, *, last: PersonalDataHolder
    ) -> None:
        self._deps, self._holders, self._last = dependencies, holders, last

    @property
    def holders(self) -> Holders:
        """The rooms whose data is erased, in this order."""
        return self._holders

    async def request(self, account_id: AccountId, password: str) -> datetime:
        """Hide the account and sign it out everywhere; returns when it will be erased, unless it signs in before."""
        await self._deps.credentials.check_password(account_id, password)
        await self._add_request(account_id)
        await self._deps.accounts.begin_deletion(account_id)
        # Again: until the status had changed, a late cancellation of an earlier request could have removed the row.
        request = await self._add_request(account_id)
        log.info("erasure.requested", account_id=account_id)
        return request.due_at

    async def find(self, account_id: AccountId) -> ErasureRequest | None:
        """The requested deletion of an account, and its progress."""
        row = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_erasure, account_id=account_id)
        return ErasureRequest(**row) if row else None

    async def cancel(self, change: StatusChanged) -> None:
        """Cancel the deletion of an account that signed in within the grace period, suspended or not."""
        async with self._deps.shards.owner(change.account_id).begin() as tx:
            account = await self._deps.accounts.lock(tx, change.account_id)
            # Only if nobody wants its deletion now: a late event must not cancel a newer request.
            if account is not None and not account.is_leaving and account.status != "gone":
                await tx.execute(QUERIES.cancel_erasure, account_id=change.account_id)

    async def start_due(self) -> None:
        """Start the erasures that are due, and restart those whose job was lost."""
        due = await self._deps.shards.everywhere().fetch(
            QUERIES.list_due_erasures, patience_s=LOST_AFTER_S, limit=MAX_STARTED
        )
        for row in due:
            await self.start(AccountId(row["account_id"]))

    async def start(self, account_id: AccountId) -> None:
        """Close the account for good and queue the job that erases it, unless its owner has signed in again."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            account = await self._deps.accounts.lock(tx, account_id)
            if await tx.fetch_one(QUERIES.lock_erasure, account_id=account_id) is None:
                return
            if account is not None and not account.is_leaving and account.status != "gone":
                await tx.execute(QUERIES.delete_erasure, account_id=account_id)
                return
            await self._deps.accounts.close(tx, account_id)
            await tx.execute(QUERIES.start_erasure, account_id=account_id)
            await self._deps.outbox.add(tx, DepartureDue(account_id))
        await self._deps.accounts.invalidate(account_id)
        log.info("erasure.started", account_id=account_id)

    async def erase(self, event: DepartureDue) -> None:
        """Erase every room until all count zero, then the account itself; then every room once more."""
        account_id = event.account_id
        request = await self.find(account_id)
        if request is None or request.started_at is None:
            return
        await self._erase_all(account_id, self._holders)
        await self._erase_all(account_id, {"accounts": self._last})
        await self._erase_all(account_id, self._holders)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.record_erased, account_id=account_id)
            await tx.execute(QUERIES.delete_erasure, account_id=account_id)
        await self._deps.accounts.invalidate(account_id)
        log.info("erasure.completed", account_id=account_id)

    async def _add_request(self, account_id: AccountId) -> ErasureRequest:
        row = await self._deps.shards.owner(account_id).fetch_one(
            QUERIES.request_erasure, account_id=account_id, grace_days=self._deps.grace_days
        )
        assert row is not None, "an INSERT … RETURNING returns its row"  # noqa: S101 - narrows the type
        return ErasureRequest(**row)

    async def _erase_all(self, account_id: AccountId, holders: Holders) -> None:
        left: dict[str, int] = {}
        for _ in range(MAX_ROUNDS):
            for name, holder in holders.items():
                await self._erase_one(account_id, name, holder)
            left = {name: await holder.count_left(account_id) for name, holder in holders.items()}
            if not any(left.values()):
                return
        raise Unavailable(f"Some data is still there: {left}", account_id=account_id)

    async def _erase_one(self, account_id: AccountId, name: str, holder: PersonalDataHolder) -> None:
        shard = self._deps.shards.owner(account_id)
        while erased := await holder.erase(account_id):
            await shard.execute(
                QUERIES.record_erasure_progress, account_id=account_id, room=name, erased=erased
            )
