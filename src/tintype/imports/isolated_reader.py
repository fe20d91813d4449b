"""Reads uploaded archives in a process of their own, whose memory and time the kernel limits (`reader_process.py`)."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Self

import msgspec

from tintype.base.errors import Unavailable
from tintype.imports.errors import ArchiveInvalid, ArchiveIsHtml, ArchiveTooCostly, FileUnreadable
from tintype.imports.models import ArchiveContents
from tintype.imports.runs import ImportSource
from tintype.imports.wire import Answer, WireContents, from_wire

ENDED_BY_LIMIT = frozenset({-signal.SIGXCPU, -signal.SIGXFSZ})


class IsolatedReader:
    """The reading process of one import: a context manager, whose methods block and may be called from any thread."""

    def __init__(
        self, folder: Path, source: ImportSource, *, max_unpacked_bytes: int, max_file_bytes: int
    ) -> None:
        """`folder` has the archives below `in/`, each in a folder of its own."""
        self._folder, self._out, self._lock = folder, folder / "out", threading.Lock()
        self._out.mkdir()
        temporary = folder / "tmp"
        temporary.mkdir()
        kept = {name: os.environ[name] for name in ("PYTHONPYCACHEPREFIX",) if name in os.environ}
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "tintype.imports.reader_process",
                str(folder),
                source,
                str(max_unpacked_bytes),
                str(max_file_bytes),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "TMPDIR": str(temporary), **kept},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process; nothing it wrote is needed any more."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def read(self) -> ArchiveContents:
        """What the archives contain; an archive that cannot be imported is `ArchiveInvalid`."""
        answer = self._receive()
        if answer.code:
            raise _refusal(answer)
        encoded = (self._folder / "contents").read_bytes()
        return from_wire(msgspec.msgpack.decode(encoded, type=WireContents), self._open)

    def _open(self, number: int) -> IO[bytes]:
        """Have a file copied out of its archive, and open the copy, which is gone when it is closed."""
        with self._lock:
            pipe = self._process.stdin
            assert pipe is not None, "it was made with a pipe"  # noqa: S101 - narrows the type
            try:
                pipe.write(b"%d\n" % number)
                pipe.flush()
            except (BrokenPipeError, ValueError) as error:
                raise self._ended() from error
            answer = self._receive()
        if answer.code:
            raise FileUnreadable(answer.text)
        copy = self._out / str(number)
        opened = copy.open("rb")
        copy.unlink()
        return opened

    def _receive(self) -> Answer:
        pipe = self._process.stdout
        assert pipe is not None, "it was made with a pipe"  # noqa: S101 - narrows the type
        line = pipe.readline()
        if not line.endswith(b"\n"):
            raise self._ended()
        return msgspec.json.decode(line, type=Answer)

    def _ended(self) -> Exception:
        """Why the process is gone: the archive was too much for it, or it was killed."""
        exit_code = self._process.wait()
        if exit_code in ENDED_BY_LIMIT:
            return ArchiveTooCostly()
        return Unavailable(error=f"the process that reads archives ended with {exit_code}")


def _refusal(answer: Answer) -> ArchiveInvalid:
    known = (ArchiveIsHtml, ArchiveTooCostly)
    kind = next((each for each in known if each.code == answer.code), ArchiveInvalid)
    return kind(answer.text or None)
