"""Events of the notifications room, for itself: pushes are sent after the row is committed, and never delay it."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class NotificationTold(Event, frozen=True):
    """An activity was added to somebody's list."""

    account_id: AccountId
    notification_id: int
    told_id: int


class PushDue(Event, frozen=True):
    """One notification is to be pushed to one browser."""

    account_id: AccountId
    subscription_id: int
    notification_id: int
    told_id: int
