"""The folders of jobs, inside one that is locked by their fork server.

A job's folder is all it sees of the file system: `in/source`, which it may read, and `out`, `original` and `tmp`,
which it may write.
"""

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tintype.media.sandbox.registry import ORIGINAL, OUT, SOURCE, TEMPORARY

PREFIX = "tintype-jobs-"
"""Of the folders of fork servers."""
BLOCK_BYTES = 512
WRITABLE = (OUT, ORIGINAL, TEMPORARY)
MAX_FILES = 256
"""Most files that one job may leave; the longest clip has about twenty."""


class OutputRefused(Exception):
    """A job left something else than plain files; whoever opens that could be led elsewhere."""


class JobFolder:
    """The folder of one job; with an account, what the job may write belongs to that account."""

    def __init__(self, parent: str, account: int | None) -> None:
        self.path = Path(tempfile.mkdtemp(dir=parent))
        for name, is_written in (("in", False), *((each, True) for each in WRITABLE)):
            (self.path / name).mkdir(mode=0o700)
            if account is None:
                continue
            os.chown(self.path / name, account if is_written else -1, account)
            (self.path / name).chmod(0o700 if is_written else 0o750)
        if account is not None:  # the folders around it stay closed to every job
            self.path.chmod(0o711)
        self._account = account

    def put_source(self, source: str, *, may_link: bool) -> None:
        """Make a file readable as `registry.SOURCE`, without letting the job change it.

        A link costs nothing; a copy is made where a link would be writable or unreadable to the job.
        """
        target = self.path / SOURCE
        if may_link and self._try_link(source, target):
            return
        shutil.copyfile(source, target)
        if self._account is not None:
            os.chown(target, -1, self._account)
        target.chmod(0o440)

    def _try_link(self, source: str, target: Path) -> bool:
        found = os.stat(source)  # noqa: PTH116 - a path of the caller's, as it is
        if self._account is not None and not found.st_mode & stat.S_IROTH:
            return False
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno in {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP}:
                return False
            raise
        return True

    def size_bytes(self) -> int:
        """How much the job has written."""
        return sum(_blocks(entry) for name in WRITABLE for entry in _entries(self.path / name)) * BLOCK_BYTES

    def move_outputs(self, outs: Mapping[str, str]) -> None:
        """Move what the job wrote to its caller's folders; to be called when its process is gone."""
        moves = [
            (Path(entry.path), Path(into) / entry.name)
            for name, into in outs.items()
            for entry in _entries(self.path / name)
        ]
        if len(moves) > MAX_FILES:
            raise OutputRefused(f"{len(moves)} files")
        for file, _ in moves:
            _take_over(file)
        for file, target in moves:
            _move(file, target)

    def remove(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def _blocks(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_blocks
    except FileNotFoundError:  # the job has just removed it
        return 0


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        yield from entries


def _take_over(file: Path) -> None:
    """Make a job's file our own; refuse links, pipes, devices and folders."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise OutputRefused(f"{file.name!r}: {error.strerror}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OutputRefused(f"{file.name!r} is no plain file")
        os.fchown(descriptor, os.geteuid(), os.getegid())
        os.fchmod(descriptor, 0o666 & ~_umask())
    finally:
        os.close(descriptor)


@cache
def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _move(file: Path, target: Path) -> None:
    try:
        file.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copyfile(file, target)
