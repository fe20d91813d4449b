"""Events of the direct room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId
from tintype.direct.models import MessageId, ThreadId


class MessageSent(Event, frozen=True):
    """Somebody sent a message."""

    thread_id: ThreadId
    account_id: AccountId
    message_id: MessageId
    number: int
    is_change: bool = False
    """An encrypted reaction or edit: devices hear of it, and nobody has more to read."""


class MessageChanged(Event, frozen=True):
    """A message was edited or unsent, or somebody reacted to it."""

    thread_id: ThreadId
    message_id: MessageId
    account_id: AccountId
    change_id: int
    is_unsent: bool = False
    media_ids: tuple[MediaId, ...] = ()
    """Media that go with an unsent message."""


class ThreadChanged(Event, frozen=True):
    """A thread was created, or its members, name, photo, requests or blocks changed."""

    thread_id: ThreadId
    change_id: int
    gone_ids: tuple[AccountId, ...] = ()
    """Who left or was removed by this change."""
    media_ids: tuple[MediaId, ...] = ()
    """The photo of the group that this change has replaced."""


class ThreadSeen(Event, frozen=True):
    """A member has read a thread up to this message."""

    thread_id: ThreadId
    account_id: AccountId
    number: int
