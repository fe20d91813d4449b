"""Generations: sets of memory-mapped arrays under one model version, replaced as a whole and atomically.

A generation is a directory of raw arrays (rows of one type, no header, so that they can grow) and a manifest with
the version of the model. The file CURRENT names the one in use. Processes map the same pages. A reader of a
replaced generation keeps what it has mapped, although the files are gone, until it opens the next one.
"""

import contextlib
import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tintype.explore.errors import NothingPublished

Array = NDArray[Any]
Layout = dict[str, tuple[str, int]]
"""By name of the array: the type of its numbers, and how many make a row."""
_TRIES = 20
Loaded = TypeVar("Loaded")


@dataclass(frozen=True)
class Generation:
    """One published set of arrays; the arrays are mapped when they are asked for."""

    path: Path
    version: str
    layout: Layout
    facts: dict[str, Any]  # any: what else its owner wants to know, as JSON

    def count(self, name: str) -> int:
        """How many rows the array has by now; a row that is being appended does not count."""
        dtype, width = self.layout[name]
        return (self.path / name).stat().st_size // (np.dtype(dtype).itemsize * width)

    def map(self, name: str, mode: Literal["r", "r+"] = "r", rows: int | None = None) -> Array:
        """The array, mapped: two-dimensional, or flat if a row is one number."""
        dtype, width = self.layout[name]
        count = self.count(name) if rows is None else rows
        shape = (count,) if width == 1 else (count, width)
        if count == 0:
            return np.empty(shape, dtype)  # nothing cannot be mapped
        return np.memmap(self.path / name, dtype, mode, shape=shape)

    def append(self, name: str, rows: Array, after: int) -> None:
        """Write rows behind the first `after`, on disk when this returns; call it with the lock held.

        What a killed writer left there is overwritten.
        """
        dtype, width = self.layout[name]
        with (self.path / name).open("r+b") as file:
            file.seek(after * np.dtype(dtype).itemsize * width)
            file.write(np.ascontiguousarray(rows, dtype).tobytes())
            file.flush()
            os.fsync(file.fileno())


class Generations:
    """The generations of one kind of thing, in one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pointer = root / "CURRENT"

    @contextlib.contextmanager
    def lock(self) -> Generator[None]:
        """Hold the lock that all writers take, in whatever process they are; readers never take it."""
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def current_name(self) -> str:
        """Name of the current generation: it differs after each publication."""
        try:
            return self._pointer.read_text()
        except FileNotFoundError as missing:
            raise NothingPublished(root=str(self._root)) from missing

    def exists(self) -> bool:
        """Whether anything has been published."""
        return self._pointer.exists()

    def open(self) -> Generation:
        """The current generation; it cannot be replaced while the lock is held."""
        path = self._root / self.current_name()
        manifest = json.loads((path / "manifest.json").read_text())
        layout = {name: (dtype, width) for name, (dtype, width) in manifest["layout"].items()}
        return Generation(path, manifest["version"], layout, manifest["facts"])

    def read(self, load: Callable[[Generation], Loaded]) -> Loaded:
        """What `load` maps of the current generation; it is called again if that is replaced meanwhile."""
        for _ in range(_TRIES):
            try:
                return load(self.open())
            except FileNotFoundError:
                continue  # replaced between reading the pointer and mapping the last file
        raise NothingPublished(root=str(self._root))

    def publish(
        self, version: str, arrays: Mapping[str, Array], facts: Mapping[str, Any] | None = None
    ) -> Generation:
        """Make these arrays the current generation; call it with the lock held.

        All files are on disk before the pointer moves: after a crash either generation is whole.
        """
        path = self._root / f"generation-{uuid.uuid4().hex}"
        path.mkdir(parents=True)
        layout: Layout = {
            name: (array.dtype.str, 1 if array.ndim == 1 else array.shape[1])
            for name, array in arrays.items()
        }
        for name, array in arrays.items():
            _write(path / name, np.ascontiguousarray(array).tobytes())
        manifest = {"version": version, "layout": layout, "facts": dict(facts or {})}
        _write(path / "manifest.json", json.dumps(manifest).encode())
        _sync_directory(path)
        self._move_pointer(path.name)
        self._delete_others(path.name)
        return Generation(path, version, layout, dict(facts or {}))

    def _move_pointer(self, name: str) -> None:
        successor = self._root / "CURRENT.new"
        _write(successor, name.encode())
        successor.replace(self._pointer)
        _sync_directory(self._root)

    def _delete_others(self, name: str) -> None:
        """Remove replaced generations and what killed writers left; mapped pages live on in their readers."""
        for each in self._root.glob("generation-*"):
            if each.name != name:
                shutil.rmtree(each)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
