"""Events of the notifications room, for itself: pushes are sent after the row is committed, and never delay it."""

from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.direct import MessageId, ThreadId


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


class MessagePushDue(Event, frozen=True):
    """A direct message is to be pushed to one browser."""

    account_id: AccountId
    subscription_id: int
    thread_id: ThreadId
    message_id: MessageId
    number: int
