"""Events of the media room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId


class VideoReceived(Event, frozen=True):
    """A video was uploaded and waits to be converted."""

    media_id: MediaId
    account_id: AccountId


class MediaReady(Event, frozen=True):
    """A video was converted and can be played."""

    media_id: MediaId
    account_id: AccountId


class MediaDeleted(Event, frozen=True):
    """Media were marked as deleted; their files are to be deleted next."""

    media_ids: list[MediaId]


class ColdMediaRead(Event, frozen=True):
    """Media were read from the cold store and should move to the warm one."""

    media_id: MediaId
