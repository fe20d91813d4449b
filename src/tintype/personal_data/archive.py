"""A zip file on disk, written record by record, so that an account of any size takes little memory."""

import re
import zipfile
from pathlib import Path
from typing import IO, Self

import msgspec

from tintype.base.personal_data import ExportRecord

_FILE = re.compile(r"[a-z0-9_]+(\.json)?")
_UNSAFE = re.compile(r"[^A-Za-z0-9._/-]|\.\.")


class Archive:
    """JSON lists, one per file name, and media files beside them; it needs an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: dict[str, IO[bytes]] = {}
        self.path = folder / "export.zip"
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, allowZip64=True)
        self._attached: set[str] = set()

    def add(self, record: ExportRecord) -> None:
        """Append a record to its list, with the path of its attachment in the archive."""
        content = record.content
        if record.attachment:
            content = {**content, "file": f"media/{_safe(record.attachment)}"}
        spool = self._lists.get(record.file)
        if spool is None:
            if not _FILE.fullmatch(record.file):
                raise ValueError(f"{record.file!r} is not a valid file name of an export")
            spool = self._lists[record.file] = (self._folder / record.file).open("w+b")
        spool.write(b"[\n" if spool.tell() == 0 else b",\n")
        spool.write(msgspec.json.encode(content))

    def has(self, name: str) -> bool:
        """Whether this attachment was added already."""
        return _safe(name) in self._attached

    def attach(self, name: str, content: bytes) -> None:
        """Add a media file uncompressed: media formats are compressed already."""
        self._attached.add(_safe(name))
        self._zip.writestr(f"media/{_safe(name)}", content, compress_type=zipfile.ZIP_STORED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close all files, also those of an unfinished archive."""
        for spool in self._lists.values():
            spool.close()
        self._zip.close()

    def finish(self) -> int:
        """Write the lists into the zip and close it; returns its size in bytes."""
        for name, spool in self._lists.items():
            spool.write(b"\n]\n")
            spool.close()
            self._zip.write(self._folder / name, name if name.endswith(".json") else f"{name}.json")
        self._zip.close()
        return self.path.stat().st_size


def _safe(path: str) -> str:
    return _UNSAFE.sub("_", path).strip("/")
