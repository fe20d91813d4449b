"""Reads a folder of photos and videos, or a zip file of one: every file is a post.

Captions and times come from a sidecar beside the file, if there is one (`photo.jpg.json` of Google Takeout,
`photo.xmp`, `photo.txt`); else the time is the camera's, the one in the file's name, or the file's own.
"""

import re

from tintype.imports.archive_files import ArchiveFile, ArchiveFiles
from tintype.imports.errors import ArchiveInvalid
from tintype.imports.models import ArchiveContents, Item, ItemMedia
from tintype.imports.reasons import LIVE_PHOTO, SYSTEM_FILE, skip
from tintype.imports.sidecars import Sidecar, find_sidecars

SOURCE = "folder"
_SYSTEM = re.compile(r"(^|/)(\.[^/]*|__MACOSX/.*|Thumbs\.db|desktop\.ini)$", re.IGNORECASE)
_STILL, _MOVING = re.compile(r"\.(heic|heif|jpe?g)$", re.IGNORECASE), re.compile(r"\.mov$", re.IGNORECASE)


def read_folder(files: ArchiveFiles) -> ArchiveContents:
    """Every file that is no sidecar, ordered by name; what is no photo or video turns out when it is uploaded."""
    skipped = [skip(name, reason) for name, reason in files.left_out]
    system = {each.name for each in files.all if _SYSTEM.search(each.name)}
    skipped += [skip(name, SYSTEM_FILE) for name in sorted(system)]
    candidates = [each for each in files.all if each.name not in system]
    sidecars = find_sidecars(candidates)
    stills = {_stem(each.name) for each in candidates if _STILL.search(each.name)}
    items: list[Item] = []
    for file in sorted(candidates, key=lambda each: each.name):
        if file.name in sidecars.names:
            continue
        if _MOVING.search(file.name) and _stem(file.name) in stills:
            skipped.append(skip(file.name, LIVE_PHOTO))
        else:
            items.append(_item(file, sidecars.of(file)))
    if not items and not skipped:
        raise ArchiveInvalid("There are no files in this folder.")
    skipped += sidecars.unreadable
    return ArchiveContents(SOURCE, items, skipped)


def _item(file: ArchiveFile, sidecar: Sidecar) -> Item:
    return Item(
        kind="photo",
        name=file.name,
        source_id="",
        posted_at=sidecar.taken_at,
        caption=sidecar.caption,
        media=(ItemMedia(file, sidecar.alt_text),),
    )


def _stem(name: str) -> str:
    return name.rpartition(".")[0].lower()
