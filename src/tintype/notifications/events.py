"""What the notifications room announces, for itself: delivery follows the row and never holds it up."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class NotificationTold(Event, frozen=True):
    """Somebody has something new in their list."""

    account_id: AccountId
    notification_id: int
    told_id: int


class PushDue(Event, frozen=True):
    """One device is to be told of one notification."""

    account_id: AccountId
    subscription_id: int
    notification_id: int
    told_id: int
