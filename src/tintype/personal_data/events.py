"""Events of the personal data room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class ExportRequested(Event, frozen=True):
    """Somebody requested an archive of their personal data."""

    account_id: AccountId
    export_id: int


class ExportReady(Event, frozen=True):
    """An archive can be downloaded until it expires."""

    account_id: AccountId
    export_id: int


class DepartureDue(Event, frozen=True):
    """The grace period of an account deletion is over: all data of the account is to be erased."""

    account_id: AccountId
