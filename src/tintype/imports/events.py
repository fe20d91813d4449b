"""Events of the imports room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class ImportRequested(Event, frozen=True):
    """The archives of an import have arrived, and its owner has started it."""

    account_id: AccountId
    import_id: int


class ImportEnded(Event, frozen=True):
    """An import is over, however it ended: its archives are to be deleted."""

    account_id: AccountId
    import_id: int
