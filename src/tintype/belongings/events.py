"""What the belongings room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class ExportRequested(Event, frozen=True):
    """Somebody wants an archive of everything that is theirs."""

    account_id: AccountId
    export_id: int


class ExportReady(Event, frozen=True):
    """An archive can be fetched until it expires."""

    account_id: AccountId
    export_id: int


class DepartureDue(Event, frozen=True):
    """Somebody's time to think it over has passed: everything that is theirs goes."""

    account_id: AccountId
