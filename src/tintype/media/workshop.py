"""Files on their way through this machine: uploads as they arrive, and what is made of them.

A process that is killed leaves its folder behind; the next look of the schedule takes away what is a day old.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

from tintype.media.errors import MediaRefused, MediaTooLarge
from tintype.media.failures import MediaStoreUnavailable

HEAD_BYTES = 4096
LEFT_BEHIND_S = 86_400
LimitOf = Callable[[bytes], int]
"""How many bytes a file may have that begins like this."""


class Workshop:
    """Hands out folders that are gone when the work is done."""

    def __init__(self, place: Path) -> None:
        self._place = place

    @contextlib.contextmanager
    def folder(self) -> Generator[Path]:
        """An empty folder of one's own."""
        with telling_full_disk():
            self._place.mkdir(parents=True, exist_ok=True, mode=0o700)
            made = Path(tempfile.mkdtemp(dir=self._place))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def tidy(self) -> int:
        """Take away what killed processes left behind; returns how many folders that were."""
        old = [
            each
            for each in (self._place.iterdir() if self._place.exists() else ())
            if each.stat().st_mtime < time.time() - LEFT_BEHIND_S
        ]
        for each in old:
            shutil.rmtree(each, ignore_errors=True)
        return len(old)


class Spool:
    """Takes a file in as its bytes arrive, and stops as soon as it is too large for what it is."""

    def __init__(self, path: Path, limit_of: LimitOf) -> None:
        self.path, self._limit_of = path, limit_of
        self._file: BinaryIO = path.open("wb")
        self._head = b""
        self._limit: int | None = None
        self.size_bytes = 0

    def write(self, chunk: bytes | memoryview) -> None:
        """Some more bytes."""
        if self._limit is None:
            self._head += bytes(chunk[:HEAD_BYTES])
            if len(self._head) >= HEAD_BYTES:
                self._limit = self._limit_of(self._head)
        self.size_bytes += len(chunk)
        if self._limit is not None and self.size_bytes > self._limit:
            raise MediaTooLarge(size_bytes=self.size_bytes)
        with telling_full_disk():
            self._file.write(chunk)

    def close(self) -> None:
        """No more bytes come."""
        with telling_full_disk():
            self._file.close()

    def check(self) -> None:
        """An empty file is nobody's photo."""
        if self.size_bytes == 0:
            raise MediaRefused("The file is empty.")


@contextlib.contextmanager
def telling_full_disk() -> Generator[None]:
    """A disk that is full or broken is a store that does not answer."""
    try:
        yield
    except OSError as error:
        raise MediaStoreUnavailable(error=f"{type(error).__name__}: {error}") from error
