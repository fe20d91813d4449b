"""The files of one or several archives: zip files, tar files and folders, read as they are asked for.

Archives come from strangers. No file is ever written under a name that an archive gives: contents are streamed. Sizes
that an archive states are not believed: whoever reads sets the limit. Links and special files are left out.
"""

import contextlib
import os
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self

from tintype.imports.errors import ArchiveInvalid, FileUnreadable
from tintype.imports.reasons import ENCRYPTED, LINK, Reason

CHUNK_BYTES = 1 << 20
MIN_FREE_BYTES = 1 << 30
HAS_PASSWORD, ZIP64 = 0x1, 0xFFFFFFFF
_UNREADABLE = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


@dataclass(frozen=True)
class ArchiveLimits:
    """How large archives may be, all together where nothing else is said."""

    max_files: int = 1_000_000
    max_directory_bytes: int = 128 << 20
    """Of the list of files in a zip file, which is read whole: some million files."""
    max_unpacked_bytes: int | None = None
    """Of the files in tar files; None: as long as there is room on the disk."""


UNLIMITED = ArchiveLimits()
"""Those for archives that the operator of a site imports: only what no real archive has is refused."""


@dataclass(frozen=True, eq=False)
class ArchiveFile:
    """One file of an archive."""

    archive: str
    name: str
    """Its path in the archive, with forward slashes."""
    size_bytes: int
    """As the archive states it."""
    modified_at: datetime
    opener: Callable[[], IO[bytes]] = field(repr=False)
    checksum: int | None = field(default=None, repr=False)
    """CRC-32 of the content, where the archive states it."""

    @property
    def base_name(self) -> str:
        """The last part of its path."""
        return self.name.rpartition("/")[2]

    def chunks(self) -> Generator[bytes]:
        """The content; `FileUnreadable` where the archive is damaged or encrypted there."""
        try:
            with self.opener() as opened:
                while chunk := opened.read(CHUNK_BYTES):
                    yield chunk
        except _UNREADABLE as error:
            raise FileUnreadable(f"The file cannot be read from its archive: {error}") from error

    def read(self, max_bytes: int) -> bytes:
        """The whole content, of at most so many bytes."""
        content = bytearray()
        with contextlib.closing(self.chunks()) as chunks:
            for chunk in chunks:
                content += chunk
                if len(content) > max_bytes:
                    raise FileUnreadable(f"The file is larger than {max_bytes >> 20} MB.")
        return bytes(content)

    def head(self, size: int) -> bytes:
        """The first bytes."""
        with contextlib.closing(self.chunks()) as chunks:
            return next(chunks, b"")[:size]

    def fingerprint(self) -> str:
        """Names the content: its size and CRC-32, read where the archive does not state them."""
        if self.checksum is not None:
            return f"{self.size_bytes}-{self.checksum:08x}"
        checksum, size = 0, 0
        for chunk in self.chunks():
            checksum, size = zlib.crc32(chunk, checksum), size + len(chunk)
        return f"{size}-{checksum:08x}"


class ArchiveFiles:
    """The files of all archives given, in the order given; a context manager, since archives stay open."""

    def __init__(self, paths: Iterable[Path], limits: ArchiveLimits = UNLIMITED) -> None:
        self._open, self._limits = contextlib.ExitStack(), limits
        self._unpacked_bytes = 0
        self.all: list[ArchiveFile] = []
        self.left_out: list[tuple[str, Reason]] = []
        """Names of what is no plain file, each with the reason."""
        try:
            for path in paths:
                self._add(path)
        except BaseException:
            self._open.close()
            raise
        self._by_base_name: dict[str, list[ArchiveFile]] = {}
        for each in self.all:
            self._by_base_name.setdefault(each.base_name, []).append(each)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def find(self, path: str) -> ArchiveFile | None:
        """The file at this path, below whatever folder the archive, or whoever packed it again, put around it."""
        wanted = _normal(path)
        if not wanted:
            return None
        found = self._by_base_name.get(wanted.rpartition("/")[2], [])
        return next((each for each in found if each.name == wanted or each.name.endswith(f"/{wanted}")), None)

    def find_by_base_name(self, base_name: str) -> ArchiveFile | None:
        """The only file of this name, in whatever folder; None where there are several."""
        found = self._by_base_name.get(base_name, [])
        return found[0] if len(found) == 1 else None

    def _add(self, path: Path) -> None:
        if path.is_dir():
            found: Iterator[ArchiveFile] = self._folder_files(path)
        elif not path.is_file():
            raise ArchiveInvalid(f"There is no file or folder {path.name}.")
        elif zipfile.is_zipfile(path):
            found = self._zip_files(path)
        elif tarfile.is_tarfile(path):
            found = self._tar_files(path)
        elif path.suffix == ".json":
            found = iter([_plain_file(path.name, path.name, path)])
        else:
            raise ArchiveInvalid(
                f"{path.name} is neither a zip or tar file nor a folder, or it is incomplete. Download it again."
            )
        for each in found:
            self.all.append(each)
            if len(self.all) > self._limits.max_files:
                raise ArchiveInvalid(f"The archives have more than {self._limits.max_files:,} files.")

    def _zip_files(self, path: Path) -> Iterator[ArchiveFile]:
        try:
            _check_directory(path, self._limits.max_directory_bytes)
            opened = self._open.enter_context(zipfile.ZipFile(path))
        except (zipfile.BadZipFile, OSError, struct.error, ValueError) as error:
            raise ArchiveInvalid(
                f"{path.name} is damaged or incomplete ({error}). Download it again."
            ) from error
        for info in opened.infolist():
            name = _normal(info.filename)
            if info.is_dir() or not name:
                continue
            if stat.S_ISLNK(info.external_attr >> 16):
                self.left_out.append((name, LINK))
            elif info.flag_bits & HAS_PASSWORD:
                self.left_out.append((name, ENCRYPTED))
            else:
                yield ArchiveFile(
                    path.name,
                    name,
                    info.file_size,
                    _zip_time(info),
                    lambda info=info: opened.open(info),
                    info.CRC,
                )

    def _tar_files(self, path: Path) -> Iterator[ArchiveFile]:
        """Unpack a tar file, which cannot be read out of order, into numbered files of a temporary folder."""
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="tintype-import-")))
        try:
            with tarfile.open(path) as opened:
                for number, member in enumerate(opened):
                    name = _normal(member.name)
                    content = opened.extractfile(member) if member.isreg() else None
                    if content is None:
                        if not member.isdir():
                            self.left_out.append((name, LINK))
                        continue
                    target = folder / str(number)
                    checksum = self._unpack(content, target)
                    yield _plain_file(path.name, name, target, _time(member.mtime), checksum)
        except (tarfile.TarError, zlib.error, EOFError) as error:
            raise ArchiveInvalid(
                f"{path.name} is damaged or incomplete ({error}). Download it again."
            ) from error

    def _unpack(self, content: IO[bytes], target: Path) -> int:
        """Copy a file out of a tar file, within the limit and while there is room on the disk; returns its CRC-32."""
        checksum, limit = 0, self._limits.max_unpacked_bytes
        with target.open("wb") as file:
            while chunk := content.read(CHUNK_BYTES):
                self._unpacked_bytes += len(chunk)
                if limit is not None and self._unpacked_bytes > limit:
                    raise ArchiveInvalid(f"The tar file has more than {limit / 2**30:.1f} GB in it.")
                free = os.statvfs(target.parent)
                if free.f_bavail * free.f_frsize < MIN_FREE_BYTES:
                    raise ArchiveInvalid(
                        "The disk is too full to unpack the tar file. Make room, or pack it as a zip file."
                    )
                file.write(chunk)
                checksum = zlib.crc32(chunk, checksum)
        return checksum

    def _folder_files(self, path: Path) -> Iterator[ArchiveFile]:
        for folder, folders, names in os.walk(path, followlinks=False):
            folders.sort()
            for name in sorted(names):
                file = Path(folder, name)
                relative = file.relative_to(path).as_posix()
                if not stat.S_ISREG(file.lstat().st_mode):
                    self.left_out.append((relative, LINK))
                else:
                    yield _plain_file(path.name, relative, file)


def _plain_file(
    archive: str, name: str, path: Path, modified_at: datetime | None = None, checksum: int | None = None
) -> ArchiveFile:
    status = path.stat()
    return ArchiveFile(
        archive,
        name,
        status.st_size,
        modified_at or _time(status.st_mtime),
        lambda: path.open("rb"),
        checksum,
    )


def _check_directory(path: Path, max_bytes: int) -> None:
    """Refuse a zip file whose list of files is larger than any real one's, before it is read into memory."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 65_557 - 20))
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        if at < 0:
            raise zipfile.BadZipFile("its end is missing")
        (directory_bytes,) = struct.unpack_from("<L", tail, at + 12)
        if directory_bytes == ZIP64 and tail[at - 20 : at - 16] == b"PK\x06\x07":
            (where,) = struct.unpack_from("<Q", tail, at - 12)
            file.seek(where + 40)
            (directory_bytes,) = struct.unpack("<Q", file.read(8))
    if directory_bytes > max_bytes:
        raise zipfile.BadZipFile("its list of files is too large")


def _normal(name: str) -> str:
    """A path with forward slashes and without empty or dot parts."""
    parts = name.replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", "."})


def _time(seconds: float) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)


def _zip_time(info: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return datetime.now(UTC)
