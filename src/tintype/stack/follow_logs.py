"""Follows log files as they grow (`tail -F`), across rotations, including files that appear later."""

import os
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from tintype.stack.logs import Line, log_names, parse

_POLL_S = 0.2


class _Tail:
    """Read position in one log file."""

    def __init__(self, folder: Path, name: str, *, from_start: bool) -> None:
        self._name = name
        self._path = folder / f"{name}.log"
        self._partial = ""
        self._file: TextIO | None = None
        self._open(from_start=from_start)

    def _open(self, *, from_start: bool) -> None:
        try:
            self._file = self._path.open(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return  # the program has not logged anything yet
        if not from_start:
            self._file.seek(0, 2)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def read(self) -> Iterator[Line]:
        """Yield the lines written since the last call; a rotated file is read to its end first."""
        if self._file is None:
            self._open(from_start=True)
        if self._file is None:
            return
        yield from self._lines(self._file)
        if self._is_rotated(self._file):
            self._file.close()
            self._open(from_start=True)

    def _lines(self, file: TextIO) -> Iterator[Line]:
        *lines, self._partial = (self._partial + file.read()).split("\n")
        yield from (parse(self._name, line) for line in lines)

    def _is_rotated(self, file: TextIO) -> bool:
        try:
            return self._path.stat().st_ino != os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            return False  # in the middle of a rotation: the next call sees the new file


def follow_logs(folder: Path, names: Iterable[str]) -> Generator[Line]:
    """Yield lines as they are written, until closed. Without names: all programs, including ones that start later."""
    wanted = list(names)
    tails = {name: _Tail(folder, name, from_start=False) for name in wanted or log_names(folder)}
    return _poll(folder, tails, adds_new_files=not wanted)


def _poll(folder: Path, tails: dict[str, _Tail], *, adds_new_files: bool) -> Generator[Line]:
    try:
        while True:
            for name in log_names(folder) if adds_new_files else ():
                if name not in tails:
                    tails[name] = _Tail(folder, name, from_start=True)
            fresh = [line for tail in tails.values() for line in tail.read()]
            yield from sorted(fresh, key=lambda line: line.time)
            time.sleep(_POLL_S)
    finally:
        for tail in tails.values():
            tail.close()
