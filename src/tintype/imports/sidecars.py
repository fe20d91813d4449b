"""Small files beside photos that describe them: Google Takeout's JSON, XMP, and plain text."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from html import unescape
from typing import Any

import msgspec

from tintype.imports.archive_files import ArchiveFile
from tintype.imports.errors import FileUnreadable
from tintype.imports.json_files import as_object
from tintype.imports.reasons import SIDECAR_ALONE, SkippedItem, skip
from tintype.imports.text import as_text
from tintype.imports.times import read_camera, read_iso, read_timestamp

MAX_BYTES = 1 << 20
_ENDING = re.compile(r"\.(json|xmp|txt)$", re.IGNORECASE)
_TAKEOUT = re.compile(
    r"\.(?:s(?:u(?:p(?:p(?:l(?:e(?:m(?:e(?:n(?:t(?:a(?:l(?:-[a-z-]*)?)?)?)?)?)?)?)?)?)?)?)?)?$"
)
_XMP_TIMES = ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate")
_XMP_TEXTS = ("dc:description", "dc:title")
_XMP_ALT = ("Iptc4xmpCore:AltTextAccessibility",)


@dataclass(frozen=True)
class Sidecar:
    """What a sidecar says of a photo; all of it may be missing."""

    taken_at: datetime | None = None
    caption: str = ""
    alt_text: str = ""


@dataclass
class Sidecars:
    """The sidecars of a folder, by the names of the files they describe."""

    by_name: dict[str, Sidecar] = field(default_factory=dict[str, Sidecar])
    names: set[str] = field(default_factory=set[str])
    unreadable: list[SkippedItem] = field(default_factory=list[SkippedItem])

    def of(self, file: ArchiveFile) -> Sidecar:
        """What is known of a file."""
        return self.by_name.get(file.name.lower(), Sidecar())


def find_sidecars(files: list[ArchiveFile]) -> Sidecars:
    """Every sidecar that has a file beside it; one that has none, or cannot be read, is named."""
    found = Sidecars()
    others = {each.name.lower() for each in files if not _ENDING.search(each.name)}
    by_stem: dict[str, list[str]] = {}
    for name in sorted(others):
        by_stem.setdefault(name.rpartition(".")[0] or name, []).append(name)
    for file in files:
        if not _ENDING.search(file.name):
            continue
        described = _described(file.name.lower(), others, by_stem)
        found.names.add(file.name)
        if not described:
            found.unreadable.append(skip(file.name, SIDECAR_ALONE))
            continue
        try:
            read = _read(file)
        except FileUnreadable as error:
            found.unreadable.append(skip(file.name, error))
            continue
        for name in described:
            found.by_name[name] = _merged(found.by_name.get(name, Sidecar()), read)
    return found


def _described(name: str, others: set[str], by_stem: dict[str, list[str]]) -> list[str]:
    """The files that a sidecar describes: `a.jpg.json` one, `a.xmp` every file called `a`."""
    stem = _ENDING.sub("", name)
    for candidate in (stem, _TAKEOUT.sub("", stem)):
        if candidate in others:
            return [candidate]
    return by_stem.get(stem, [])


def _merged(first: Sidecar, second: Sidecar) -> Sidecar:
    return Sidecar(
        first.taken_at or second.taken_at, first.caption or second.caption, first.alt_text or second.alt_text
    )


def _read(file: ArchiveFile) -> Sidecar:
    content, ending = file.read(MAX_BYTES), file.name.lower().rpartition(".")[2]
    if ending == "json":
        return _read_takeout(content)
    text = content.decode("utf-8-sig", errors="replace")
    return _read_xmp(text) if ending == "xmp" else Sidecar(caption=as_text(text))


def _read_takeout(content: bytes) -> Sidecar:
    try:
        fields = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileUnreadable(f"The sidecar is no JSON that describes a photo: {error}") from error
    taken = as_object(fields.get("photoTakenTime")) or as_object(fields.get("creationTime"))
    taken_at = read_timestamp(taken.get("timestamp"))
    return Sidecar(taken_at, as_text(fields.get("description")) or as_text(fields.get("caption")))


def _read_xmp(text: str) -> Sidecar:
    """By patterns: the fields wanted are few and flat, and no parser of XML needs to see a stranger's file."""
    times = (_xmp_value(text, name) for name in _XMP_TIMES)
    taken_at = next((found for each in times if (found := read_iso(each) or read_camera(each))), None)
    caption = next((found for name in _XMP_TEXTS if (found := _xmp_value(text, name))), "")
    return Sidecar(taken_at, as_text(caption), as_text(_xmp_value(text, _XMP_ALT[0])))


def _xmp_value(text: str, name: str) -> str:
    """The value of an attribute or of an element, whose text may stand in a list of languages."""
    attribute = re.search(rf'\b{name}="([^"]*)"', text)
    element = re.search(rf"<{name}\b[^>]*>(.{{0,20000}}?)</{name}>", text, re.DOTALL)
    if attribute:
        return unescape(attribute[1])
    return unescape(re.sub(r"<[^>]*>", " ", element[1])).strip() if element else ""
