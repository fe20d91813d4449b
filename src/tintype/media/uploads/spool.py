"""Receives one file on disk as its bytes arrive, within the size that its type allows."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tintype.media.errors import MediaRefused, MediaTooLarge
from tintype.media.temporary_files import disk_errors_as_unavailable

HEAD_BYTES = 4096
LimitFor = Callable[[bytes], int]
"""How many bytes a file may have, by its first bytes."""


class Spool:
    """A file being received; writing fails as soon as it is larger than a file of its type may be."""

    def __init__(self, path: Path, limit_for: LimitFor) -> None:
        self.path, self._limit_for = path, limit_for
        self._file: BinaryIO = path.open("wb")
        self._head = b""
        self._limit: int | None = None
        self.size_bytes = 0

    def write(self, chunk: bytes | memoryview) -> None:
        """Append bytes; the type, and with it the limit, is known once the first 4 KiB are there."""
        if self._limit is None:
            self._head += bytes(chunk[:HEAD_BYTES])
            if len(self._head) >= HEAD_BYTES:
                self._limit = self._limit_for(self._head)
        self.size_bytes += len(chunk)
        if self._limit is not None and self.size_bytes > self._limit:
            raise MediaTooLarge(size_bytes=self.size_bytes)
        with disk_errors_as_unavailable():
            self._file.write(chunk)

    def close(self) -> None:
        """Flush and close the file; it can be read now."""
        with disk_errors_as_unavailable():
            self._file.close()

    def check(self) -> None:
        """Refuse an empty file."""
        if self.size_bytes == 0:
            raise MediaRefused("The file is empty.")
