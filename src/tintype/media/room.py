"""What other rooms take from this one; `tintype.media` loads it when they do."""

from tintype.media.camera import Camera
from tintype.media.errors import (
    ChecksumWrong,
    EditInvalid,
    MediaNotFound,
    MediaRefused,
    MediaStoreUnavailable,
    MediaTooLarge,
    StorageFull,
    UploadNotFound,
    UploadOffsetWrong,
)
from tintype.media.events import MediaDeleted, MediaReady, VideoReceived
from tintype.media.jobs import ConversionProgress
from tintype.media.looks import Look, LookNotFound, find_strip, list_looks
from tintype.media.metadata.models import Removed
from tintype.media.models import Audience, Media, MediaKind, MediaState, MediaType, ResumableUpload, Tier
from tintype.media.sandbox import Wall, check_walls, log_missing_walls, missing_walls
from tintype.media.service import MediaLibrary
from tintype.media.serving.files import MediaFile
from tintype.media.serving.signed_urls import (
    MediaUrls,
    fit_preview,
    full_size,
    preview_url,
    public_photo_urls,
    public_square_urls,
)
from tintype.media.storage.connect import open_store, open_stores
from tintype.media.storage.largest_file import open_largest
from tintype.media.storage.object_storage import PRIVATE, ObjectStorage, ObjectStream, StoredObject
from tintype.media.storage.probe import probe_stores
from tintype.media.storage.sweep import SweepReport
from tintype.media.storage.tiers import TierMoves
from tintype.media.store import QUERIES
from tintype.media.uploads.checksum import ALGORITHMS, Checksum
from tintype.media.uploads.options import UploadOptions
from tintype.media.uploads.parts import split_into_parts
from tintype.media.uploads.presign import Presigned
from tintype.media.uploads.spool import Spool
from tintype.media.usage import StorageUsage, Usage

__all__ = [
    "ALGORITHMS",
    "PRIVATE",
    "QUERIES",
    "Audience",
    "Camera",
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
    "ObjectStream",
    "Presigned",
    "Removed",
    "ResumableUpload",
    "Spool",
    "StorageFull",
    "StorageUsage",
    "StoredObject",
    "SweepReport",
    "Tier",
    "TierMoves",
    "UploadNotFound",
    "UploadOffsetWrong",
    "UploadOptions",
    "Usage",
    "VideoReceived",
    "Wall",
    "check_walls",
    "find_strip",
    "fit_preview",
    "full_size",
    "list_looks",
    "log_missing_walls",
    "missing_walls",
    "open_largest",
    "open_store",
    "open_stores",
    "preview_url",
    "probe_stores",
    "public_photo_urls",
    "public_square_urls",
    "split_into_parts",
]
