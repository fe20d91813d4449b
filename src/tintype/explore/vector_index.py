"""Vector index: the items closest to a person's vector, from memory-mapped files that all processes share.

Up to EXACT_LIMIT items every vector is compared. Above, faiss (if installed) searches an inverted file made at the
last rebuild, and what was added since is compared one by one. Vectors and index have one model version: a vector of
another one is refused. What is added, changed or erased is seen by every process at its next search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore import inverted_file
from tintype.explore.errors import ModelVersionMismatch, VectorsInvalid
from tintype.explore.generations import Generation, Generations
from tintype.explore.neighbour_lists import top_rows
from tintype.explore.towers import PersonVector

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
EXACT_LIMIT = 200_000
_OVERSAMPLING = 2
"""An inverted file stores half precision: so many times the wanted items are compared again, exactly."""


@dataclass(frozen=True)
class _View:
    """What a process has mapped: the rows that there were at that moment."""

    generation: Generation
    ids: Ids
    """The complement (~id) where the item was erased: never negative otherwise."""
    vectors: Floats
    order: NDArray[np.int64]
    """Rows in ascending order of their ids, erased ones among them."""
    ordered: Ids
    """The ids in that order, as they were before some were erased."""
    inverted: inverted_file.InvertedFile | None

    @classmethod
    def of(cls, generation: Generation) -> "_View":
        """Map a generation as it is now."""
        ids = generation.map("ids")  # before the vectors: each id has its vector on disk already
        vectors = generation.map("vectors", rows=len(ids))
        plain = _plain(ids)
        order = np.argsort(plain, kind="stable")
        inverted = inverted_file.InvertedFile.open(generation)
        return cls(generation, ids, vectors, order, plain[order], inverted)

    def has_grown(self) -> bool:
        """Whether there are more rows by now, or the files were replaced."""
        try:
            return self.generation.count("ids") != len(self.ids)
        except FileNotFoundError:
            return True

    def rows_of(self, ids: Ids) -> NDArray[np.int64]:
        """The row of each id, -1 where there is none or it was erased."""
        if not len(self.order) or not len(ids):
            return np.full(len(ids), -1, np.int64)
        rows = self.order[np.minimum(np.searchsorted(self.ordered, ids), len(self.ordered) - 1)]
        return np.where(self.ids[rows] == ids, rows, -1)


class VectorIndex:
    """Searches the published vectors; one per process."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root)
        self._view: _View | None = None

    @property
    def version(self) -> str:
        """The model version of the vectors in use."""
        return self._current().generation.version

    def search(self, person: PersonVector, count: int) -> tuple[Ids, Floats]:
        """The ids with the highest dot products, and those, best first."""
        view = self._checked(person)
        rows = self._candidates(view, person.values, count)
        ids, scores = view.ids[rows], view.vectors[rows] @ person.values
        scores[ids < 0] = -np.inf
        best = top_rows(scores, min(count, int((ids >= 0).sum())))
        return np.array(ids[best]), scores[best]

    def score(self, person: PersonVector, ids: Ids) -> tuple[Ids, Floats]:
        """Those of the ids that are in the index, and their dot products."""
        view = self._checked(person)
        rows = view.rows_of(np.asarray(ids, np.int64))
        is_there = rows >= 0
        return np.asarray(ids, np.int64)[is_there], view.vectors[rows[is_there]] @ person.values

    def _candidates(self, view: _View, vector: Floats, count: int) -> "NDArray[np.int64] | slice":
        """Rows to compare exactly."""
        if view.inverted is None:
            return slice(None)
        found = view.inverted.search(vector, count * _OVERSAMPLING)
        return np.concatenate([found, np.arange(view.inverted.rows, len(view.ids))])

    def _checked(self, person: PersonVector) -> _View:
        view = self._current()
        if person.version != view.generation.version:
            raise ModelVersionMismatch(vector=person.version, index=view.generation.version)
        return view

    def _current(self) -> _View:
        """What is mapped, mapped again if another generation was published or rows were added."""
        view = self._view
        if view is None or view.generation.path.name != self._generations.current_name() or view.has_grown():
            self._view = view = self._generations.read(_View.of)
        return view


class VectorIndexWriter:
    """Publishes, adds and erases vectors; writers of all processes take turns."""

    def __init__(self, root: Path, exact_limit: int = EXACT_LIMIT) -> None:
        self._generations = Generations(root)
        self._exact_limit = exact_limit

    def publish(self, version: str, ids: Sequence[int] | Ids, vectors: Floats) -> None:
        """Replace the index by the vectors of a new model.

        What was erased from the current index since is left out; what was added to it since must be added again,
        since its vector is of another model.
        """
        wanted = np.asarray(ids, np.int64)
        _check(wanted, vectors, vectors.shape[1])
        with self._generations.lock():
            keep = ~np.isin(wanted, self._erased_ids())
            self._publish(version, wanted[keep], vectors[keep])

    def rebuild(self) -> None:
        """Make the index anew from what it holds: added items enter the inverted file, erased ones leave the disk."""
        with self._generations.lock():
            current = self._generations.open()
            ids = current.map("ids")
            is_there = ids >= 0
            vectors = current.map("vectors", rows=len(ids))
            self._publish(current.version, ids[is_there], vectors[is_there])

    def add(self, version: str, ids: Sequence[int] | Ids, vectors: Floats) -> None:
        """Add items, or change the vectors of those that are there; erased ones do not come back."""
        wanted = np.asarray(ids, np.int64)
        with self._generations.lock():
            current = self._generations.open()
            if version != current.version:
                raise ModelVersionMismatch(vector=version, index=current.version)
            _check(wanted, vectors, current.layout["vectors"][1])
            last = _last_of_each(wanted)
            self._write(current, wanted[last], vectors[last])

    def erase(self, ids: Sequence[int] | Ids) -> None:
        """Remove items: no process finds them any more, and their vectors are zero."""
        with self._generations.lock():
            current = self._generations.open()
            known = current.map("ids", "r+")
            rows = np.flatnonzero(np.isin(known, np.asarray(ids, np.int64)))
            if len(rows):
                known[rows] = ~known[rows]
                current.map("vectors", "r+")[rows] = 0
                inverted_file.erase(current, rows)

    def _publish(self, version: str, ids: Ids, vectors: Floats) -> None:
        order = _last_of_each(ids)
        arrays: dict[str, NDArray[Any]] = {
            "ids": ids[order],
            "vectors": np.ascontiguousarray(vectors[order], np.float32),
        }
        if len(order) > self._exact_limit and inverted_file.is_available():
            arrays[inverted_file.NAME] = inverted_file.build(arrays["vectors"])
        self._generations.publish(version, arrays, {"rows": len(order)})

    def _write(self, current: Generation, ids: Ids, vectors: Floats) -> None:
        """Write vectors of ids, which are ascending."""
        known = current.map("ids")
        rows = np.flatnonzero(np.isin(known, ids))
        if len(rows):
            current.map("vectors", "r+")[rows] = vectors[np.searchsorted(ids, known[rows])]
        is_new = ~np.isin(ids, _plain(known))
        if is_new.any():
            current.append("vectors", vectors[is_new], after=len(known))
            current.append("ids", ids[is_new], after=len(known))

    def _erased_ids(self) -> Ids:
        if not self._generations.exists():
            return np.empty(0, np.int64)
        ids = self._generations.open().map("ids")
        return ~ids[ids < 0]


def _plain(ids: Ids) -> Ids:
    """Ids as they were before some were erased."""
    return np.where(ids < 0, ~ids, ids)


def _last_of_each(ids: Ids) -> NDArray[np.int64]:
    """Places of the ids, in ascending order, each once: the last where one is given several times."""
    _, places = np.unique(ids[::-1], return_index=True)
    return len(ids) - 1 - places


def _check(ids: Ids, vectors: Floats, width: int) -> None:
    if vectors.shape != (len(ids), width) or not np.isfinite(vectors).all() or (ids < 0).any():
        raise VectorsInvalid(ids=len(ids), shape=vectors.shape, expected_width=width)
