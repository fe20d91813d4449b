"""What the media room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId


class VideoReceived(Event, frozen=True):
    """A clip lies in the private area and waits to be converted."""

    media_id: MediaId
    account_id: AccountId


class MediaReady(Event, frozen=True):
    """A clip can now be played."""

    media_id: MediaId
    account_id: AccountId


class MediaDeleted(Event, frozen=True):
    """These are gone for everybody; their files go next."""

    media_ids: list[MediaId]


class ColdMediaRead(Event, frozen=True):
    """Somebody looked at media in the cold store."""

    media_id: MediaId
