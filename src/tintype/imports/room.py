"""What others take from this room; `tintype.imports` loads it when they do."""

from tintype.imports.activitypub import read_mastodon, read_pixelfed
from tintype.imports.archive_files import ArchiveFiles
from tintype.imports.dependencies import ImportsDependencies
from tintype.imports.errors import ArchiveInvalid, ArchiveIsHtml
from tintype.imports.events import ImportEnded, ImportRequested
from tintype.imports.folder import read_folder
from tintype.imports.importer import Importer, ImportOptions
from tintype.imports.instagram import read_instagram
from tintype.imports.models import ArchiveContents, Item, ItemMedia
from tintype.imports.reasons import SkippedItem
from tintype.imports.report import ImportReport
from tintype.imports.retention import KEPT_ARCHIVES_DAYS
from tintype.imports.runs import (
    ImportRun,
    ImportSource,
    ImportState,
    LineKind,
    ReportLine,
    ReportPage,
    UploadedArchive,
)
from tintype.imports.service import Imports
from tintype.imports.store import QUERIES

__all__ = [
    "KEPT_ARCHIVES_DAYS",
    "QUERIES",
    "ArchiveContents",
    "ArchiveFiles",
    "ArchiveInvalid",
    "ArchiveIsHtml",
    "ImportEnded",
    "ImportOptions",
    "ImportReport",
    "ImportRequested",
    "ImportRun",
    "ImportSource",
    "ImportState",
    "Importer",
    "Imports",
    "ImportsDependencies",
    "Item",
    "ItemMedia",
    "LineKind",
    "ReportLine",
    "ReportPage",
    "SkippedItem",
    "UploadedArchive",
    "read_folder",
    "read_instagram",
    "read_mastodon",
    "read_pixelfed",
]
