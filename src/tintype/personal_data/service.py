"""The front door of personal data: exports and account deletion, long work over every room in repeatable steps."""

from collections.abc import AsyncIterator
from datetime import datetime

from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.personal_data import Holders, PersonalDataHolder
from tintype.personal_data.dependencies import PersonalDataDependencies
from tintype.personal_data.erasure import Erasure
from tintype.personal_data.events import DepartureDue, ExportRequested
from tintype.personal_data.exports import Exports
from tintype.personal_data.models import ErasureRequest, Export

START_ERASURES_EVERY_S = 600.0
DELETE_EXPIRED_EVERY_S = 3_600.0


class PersonalData:
    """Exports and erases what all rooms store about a person."""

    def __init__(
        self, dependencies: PersonalDataDependencies, holders: Holders, *, last: PersonalDataHolder
    ) -> None:
        """`holders` are erased in their order; `last` holds the account itself and is erased after all others."""
        self._exports = Exports(dependencies, {"accounts": last, **holders})
        self._erasure = Erasure(dependencies, {**holders, "exports": self._exports}, last=last)

    # Exports.

    async def request_export(self, account_id: AccountId) -> Export:
        """Request an archive; it is made in the background, one at a time per account."""
        return await self._exports.request(account_id)

    async def get_export(self, account_id: AccountId, export_id: int) -> Export:
        """One export of this account, in any state."""
        return await self._exports.get(account_id, export_id)

    async def list_exports(self, account_id: AccountId) -> list[Export]:
        """The exports of this account, newest first."""
        return await self._exports.list_of(account_id)

    async def open_export(self, account_id: AccountId, export_id: int) -> tuple[Export, AsyncIterator[bytes]]:
        """A finished archive and its bytes, in chunks."""
        return await self._exports.open(account_id, export_id)

    async def make_export(self, event: ExportRequested) -> None:
        """Build the archive and store it; a run that was interrupted starts again from the beginning."""
        await self._exports.make(event)

    async def delete_exports(self, account_id: AccountId) -> int:
        """Delete a batch of an account's archives; returns how many."""
        return await self._exports.erase(account_id)

    async def delete_expired_exports(self) -> None:
        """Delete expired archives with their files, and mark exports whose job died as failed."""
        await self._exports.delete_expired()

    # Account deletion.

    @property
    def holders(self) -> Holders:
        """The rooms whose data is erased, in this order."""
        return self._erasure.holders

    async def request_erasure(self, account_id: AccountId, password: str) -> datetime:
        """Hide the account and sign it out everywhere; returns when it will be erased, unless it signs in before."""
        return await self._erasure.request(account_id, password)

    async def find_erasure(self, account_id: AccountId) -> ErasureRequest | None:
        """The requested deletion of an account, and its progress."""
        return await self._erasure.find(account_id)

    async def cancel_erasure(self, change: StatusChanged) -> None:
        """Cancel the deletion of an account that signed in within the grace period."""
        await self._erasure.cancel(change)

    async def start_due_erasures(self) -> None:
        """Start the erasures that are due, and restart those whose job was lost."""
        await self._erasure.start_due()

    async def start_erasure(self, account_id: AccountId) -> None:
        """Close the account for good and queue the job that erases it, unless its owner has signed in again."""
        await self._erasure.start(account_id)

    async def erase(self, event: DepartureDue) -> None:
        """Erase every room until all count zero, then the account itself."""
        await self._erasure.erase(event)

    # Jobs.

    def handlers(self) -> list[Handler]:
        """The room's event handlers."""
        return [
            on(ExportRequested, self.make_export, name="belongings-export", concurrency=2, is_long=True),
            on(DepartureDue, self.erase, name="belongings-depart", concurrency=4),
            on(StatusChanged, self.cancel_erasure, name="belongings-return"),
        ]

    def schedules(self) -> list[Schedule]:
        """The room's periodic jobs."""
        return [
            Schedule("exports-tidy", DELETE_EXPIRED_EVERY_S, self.delete_expired_exports),
            Schedule("departures", START_ERASURES_EVERY_S, self.start_due_erasures),
        ]
