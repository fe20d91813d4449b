"""Names every file of an archive that no item uses, so that nothing is left out in silence."""

import re
from collections.abc import Collection

from tintype.imports.archive_files import ArchiveFiles
from tintype.imports.models import Item
from tintype.imports.reasons import (
    IN_MESSAGE,
    OTHER_LIST,
    PROFILE_PICTURE,
    SYSTEM_FILE,
    UNNAMED,
    Reason,
    SkippedItem,
    skip,
)

_REASONS = (
    (re.compile(r"(^|/)(messages|direct)(/|$)"), IN_MESSAGE),
    (re.compile(r"(^|/)(profile|profile_photos)(/|$)"), PROFILE_PICTURE),
    (re.compile(r"(^|/)(\.[^/]*|__MACOSX/.*|Thumbs\.db|desktop\.ini)$"), SYSTEM_FILE),
    (
        re.compile(r"\.(json|html|csv|txt|css|js)$"),
        OTHER_LIST,
    ),
)


def list_unused(
    files: ArchiveFiles, items: list[Item], skipped: list[SkippedItem], *, known: Collection[str]
) -> list[SkippedItem]:
    """A line for each file that was neither used nor named as skipped nor is one of the lists that were read."""
    used = {id(media.file) for item in items for media in item.media}
    named = {each.name for each in skipped}
    paths = {each.name.rpartition(": ")[2] for each in skipped}
    return [
        skip(each.name, _reason(each.name))
        for each in files.all
        if id(each) not in used
        and each.name not in known
        and each.name not in named
        and not any(
            each.name == path or each.name.endswith(f"/{path}") for path in _endings(each.name, paths)
        )
    ]


def _endings(name: str, paths: set[str]) -> set[str]:
    """Those of the paths that the name may end with."""
    parts = name.split("/")
    return {ending for at in range(len(parts)) if (ending := "/".join(parts[at:])) in paths}


def _reason(name: str) -> Reason:
    found = (reason for pattern, reason in _REASONS if pattern.search(name))
    return next(found, UNNAMED)
