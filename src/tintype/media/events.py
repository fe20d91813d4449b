"""Events of the media room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId


class VideoReceived(Event, frozen=True):
    """A video was uploaded and waits to be converted."""

    media_id: MediaId
    account_id: AccountId


class FurtherVideoReceived(Event, frozen=True):
    """A video was uploaded by somebody who has others waiting: those of other people are converted first."""

    media_id: MediaId
    account_id: AccountId


class MediaReady(Event, frozen=True):
    """A video was converted and can be played."""

    media_id: MediaId
    account_id: AccountId


class MediaDeleted(Event, frozen=True):
    """Media were marked as deleted; their files are to be deleted next."""

    media_ids: list[MediaId]


class FileVisibilityChanged(Event, frozen=True):
    """Others may no longer open the files of these media, or may again: cached answers about them are stale."""

    media_ids: list[MediaId]
    folders: list[str]


class ColdMediaRead(Event, frozen=True):
    """Media were read from the cold store and should move to the warm one."""

    media_id: MediaId
