"""Media: photos and videos, from the upload to their deletion.

Owns `media` and `media_uploads` (on the uploader's shard) and the files in the object stores.
"""

from tintype.media.errors import (
    ChecksumWrong,
    EditInvalid,
    MediaNotFound,
    MediaRefused,
    MediaStoreUnavailable,
    MediaTooLarge,
    UploadNotFound,
)
from tintype.media.events import MediaDeleted, MediaReady, VideoReceived
from tintype.media.jobs import ConversionProgress
from tintype.media.looks import Look, LookNotFound, find_strip, list_looks
from tintype.media.models import Media, MediaKind, MediaState, MediaType, ResumableUpload
from tintype.media.service import MediaLibrary
from tintype.media.serving.files import MediaFile
from tintype.media.serving.signed_urls import MediaUrls, public_photo_urls
from tintype.media.storage.object_storage import PRIVATE, ObjectStorage
from tintype.media.storage.sweep import SweepReport
from tintype.media.storage.tiers import TierMoves
from tintype.media.store import QUERIES
from tintype.media.uploads.checksum import ALGORITHMS, Checksum
from tintype.media.uploads.options import UploadOptions
from tintype.media.uploads.presign import Presigned
from tintype.media.uploads.spool import Spool

__all__ = [
    "ALGORITHMS",
    "PRIVATE",
    "QUERIES",
    "Checksum",
    "ChecksumWrong",
    "ConversionProgress",
    "EditInvalid",
    "Look",
    "LookNotFound",
    "Media",
    "MediaDeleted",
    "MediaFile",
    "MediaKind",
    "MediaLibrary",
    "MediaNotFound",
    "MediaReady",
    "MediaRefused",
    "MediaState",
    "MediaStoreUnavailable",
    "MediaTooLarge",
    "MediaType",
    "MediaUrls",
    "ObjectStorage",
    "Presigned",
    "ResumableUpload",
    "Spool",
    "SweepReport",
    "TierMoves",
    "UploadNotFound",
    "UploadOptions",
    "VideoReceived",
    "find_strip",
    "list_looks",
    "public_photo_urls",
]
