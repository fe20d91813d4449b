"""A zip file on disk, written record by record, so that an account of any size takes little memory."""

import asyncio
import re
import time
import zipfile
from collections.abc import AsyncIterator
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
        self._attached: dict[str, str] = {}

    def add(self, record: ExportRecord, attachment: str | None = None) -> None:
        """Append a record to its list, with the path of its attachment in the archive."""
        content = record.content if attachment is None else {**record.content, "file": attachment}
        spool = self._lists.get(record.file)
        if spool is None:
            if not _FILE.fullmatch(record.file):
                raise ValueError(f"{record.file!r} is not a valid file name of an export")
            spool = self._lists[record.file] = (self._folder / record.file).open("w+b")
        spool.write(b"[\n" if spool.tell() == 0 else b",\n")
        spool.write(msgspec.json.encode(content))

    def find(self, media_folder: str) -> str | None:
        """The attachment that was added for these media already."""
        return self._attached.get(media_folder)

    async def attach(self, media_folder: str, name: str, chunks: AsyncIterator[bytes]) -> str:
        """Add a media file as it arrives, uncompressed: media formats are compressed already. Returns its path."""
        path = f"media/{_safe(name)}"
        with self._zip.open(zipfile.ZipInfo(path, time.gmtime()[:6]), "w", force_zip64=True) as entry:
            async for chunk in chunks:
                await asyncio.to_thread(entry.write, chunk)
        self._attached[media_folder] = path
        return path

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
