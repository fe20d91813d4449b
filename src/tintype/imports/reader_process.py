"""The process that reads the archives somebody uploaded: `python -m tintype.imports.reader_process FOLDER SOURCE …`.

Archives come from strangers: a list can unpack to gigabytes, a header can ask for any amount of memory. So they are
read here, within limits that the kernel holds, and never in a process that does anything else. The folder has the
archives below `in/`; the contents go to `contents`, and then for each number that is asked for, a file to `out/`.
"""

import contextlib
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from tintype.base.errors import TintypeError
from tintype.imports.activitypub import read_mastodon, read_pixelfed
from tintype.imports.archive_files import ArchiveFile, ArchiveFiles, ArchiveLimits
from tintype.imports.errors import ArchiveInvalid, ArchiveTooCostly, FileUnreadable
from tintype.imports.folder import read_folder
from tintype.imports.instagram import read_instagram
from tintype.imports.models import ArchiveContents
from tintype.imports.wire import Answer, to_wire

MEMORY_BYTES = 1 << 30
"""Address space: a list of a hundred megabytes fits."""
CPU_S = 1_800
OPEN_FILES = 128
MAX_FILES = 200_000
MAX_DIRECTORY_BYTES = 64 << 20
MAX_LINES = 100_000
"""Of posts and of lines in the report, which the importing process holds in memory."""
READERS: dict[str, Callable[[ArchiveFiles], ArchiveContents]] = {
    "instagram": read_instagram,
    "mastodon": read_mastodon,
    "pixelfed": read_pixelfed,
    "folder": read_folder,
}


def main(folder: Path, source: str, max_unpacked_bytes: int, max_file_bytes: int) -> None:
    """Read the archives, then serve their files until nobody asks any more."""
    _limit_process(max_unpacked_bytes)
    paths = sorted((folder / "in").glob("*/*"))
    try:
        limits = ArchiveLimits(MAX_FILES, MAX_DIRECTORY_BYTES, max_unpacked_bytes)
        with ArchiveFiles(paths, limits) as files:
            contents = READERS[source](files)
            if len(contents.items) + len(contents.skipped) > MAX_LINES:
                raise ArchiveInvalid(f"There are more than {MAX_LINES:,} posts and other files.")
            numbers = {id(each): number for number, each in enumerate(files.all)}
            encoded = msgspec.msgpack.encode(to_wire(contents, lambda file: numbers[id(file)]))
            (folder / "contents").write_bytes(encoded)
            _answer(Answer())
            _serve(files.all, folder / "out", max_file_bytes)
    except TintypeError as error:
        _answer(Answer(error.code, error.detail))
    except (MemoryError, RecursionError):
        _answer(Answer(ArchiveTooCostly.code))


def _serve(files: list[ArchiveFile], out: Path, max_file_bytes: int) -> None:
    """Copy each file that is asked for, by its number; of one that is too large, enough to notice it."""
    for line in sys.stdin:
        number = int(line)
        try:
            _extract(files[number], out / str(number), max_file_bytes)
        except FileUnreadable as error:
            _answer(Answer(error.code, str(error)))
        except MemoryError:
            _answer(Answer(FileUnreadable.code, "Unpacking the file takes too much memory."))
        else:
            _answer(Answer())


def _extract(file: ArchiveFile, target: Path, max_bytes: int) -> None:
    written = 0
    with target.open("wb") as copy, contextlib.closing(file.chunks()) as chunks:
        for chunk in chunks:
            copy.write(chunk)
            written += len(chunk)
            if written > max_bytes:
                return


def _limit_process(max_unpacked_bytes: int) -> None:
    """Let the kernel end this process when it takes more memory, time or disk than reading an archive needs."""
    for kind, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, max_unpacked_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _answer(answer: Answer) -> None:
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
