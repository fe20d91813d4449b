"""Following logs as they grow, across rotations and for programs that start to speak later."""

import os
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from tintype.stack.logs import Line, names_of, parse

_POLL_S = 0.2


class _Tail:
    """One growing file."""

    def __init__(self, folder: Path, name: str, *, from_start: bool) -> None:
        self._name = name
        self._path = folder / f"{name}.log"
        self._rest = ""
        self._file: TextIO | None = None
        self._open(from_start=from_start)

    def _open(self, *, from_start: bool) -> None:
        try:
            self._file = self._path.open(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return  # it has not spoken yet
        if not from_start:
            self._file.seek(0, 2)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def read(self) -> Iterator[Line]:
        """Yield what was said since the last look; a rotated file is read to its end first."""
        if self._file is None:
            self._open(from_start=True)
        if self._file is None:
            return
        yield from self._lines(self._file)
        if self._is_rotated(self._file):
            self._file.close()
            self._open(from_start=True)

    def _lines(self, file: TextIO) -> Iterator[Line]:
        *lines, self._rest = (self._rest + file.read()).split("\n")
        yield from (parse(self._name, line) for line in lines)

    def _is_rotated(self, file: TextIO) -> bool:
        try:
            return self._path.stat().st_ino != os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            return False  # between two files: the next look decides


def follow(folder: Path, names: Iterable[str]) -> Generator[Line]:
    """Return lines said from now on, for ever. No names means everybody, newcomers included."""
    wanted = list(names)
    tails = {name: _Tail(folder, name, from_start=False) for name in wanted or names_of(folder)}
    return _listen(folder, tails, expects_newcomers=not wanted)


def _listen(folder: Path, tails: dict[str, _Tail], *, expects_newcomers: bool) -> Generator[Line]:
    try:
        while True:
            for name in names_of(folder) if expects_newcomers else ():
                if name not in tails:
                    tails[name] = _Tail(folder, name, from_start=True)
            fresh = [line for tail in tails.values() for line in tail.read()]
            yield from sorted(fresh, key=lambda line: line.time)
            time.sleep(_POLL_S)
    finally:
        for tail in tails.values():
            tail.close()
