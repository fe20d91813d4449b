"""Media: pictures and clips, from the phone to the eye, and to their end.

Owns `media` and `media_uploads` (on the uploader's shard) and the files in the object stores.
"""

from tintype.media.addresses import Addresses, urls_of
from tintype.media.building import MediaRoom, build_media
from tintype.media.editing import EditInvalid
from tintype.media.errors import MediaNotFound, MediaRefused, MediaTooLarge
from tintype.media.events import MediaDeleted, MediaReady, VideoReceived
from tintype.media.failures import ChecksumWrong, MediaStoreUnavailable, UploadNotFound
from tintype.media.files import MediaFile, MediaFiles
from tintype.media.later import Progress
from tintype.media.leaving import MediaBelongings
from tintype.media.models import Media, MediaKind, MediaState, MediaType, Upload, Wish
from tintype.media.pieces import ALGORITHMS, Checksum
from tintype.media.presigning import Presigned
from tintype.media.service import MediaLibrary
from tintype.media.sql import QUERIES
from tintype.media.storage import PRIVATE, Opened, Storage
from tintype.media.sweeping import SweepReport
from tintype.media.tiers import Moves
from tintype.media.uploads import Uploads
from tintype.media.workshop import Spool

__all__ = [
    "ALGORITHMS",
    "PRIVATE",
    "QUERIES",
    "Addresses",
    "Checksum",
    "ChecksumWrong",
    "EditInvalid",
    "Media",
    "MediaBelongings",
    "MediaDeleted",
    "MediaFile",
    "MediaFiles",
    "MediaKind",
    "MediaLibrary",
    "MediaNotFound",
    "MediaReady",
    "MediaRefused",
    "MediaRoom",
    "MediaState",
    "MediaStoreUnavailable",
    "MediaTooLarge",
    "MediaType",
    "Moves",
    "Opened",
    "Presigned",
    "Progress",
    "Spool",
    "Storage",
    "SweepReport",
    "Upload",
    "UploadNotFound",
    "Uploads",
    "VideoReceived",
    "Wish",
    "build_media",
    "urls_of",
]
