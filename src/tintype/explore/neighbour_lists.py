"""Neighbour lists: for each item the items that the graph filter puts next to it, as memory-mapped arrays.

What a person is shown is the sum of the lists of what they engaged with: no training for a new person, a few
hundred microseconds, and numpy alone. `tintype.explore.training` computes the lists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore.generations import Generations
from tintype.explore.id_table import UNKNOWN, IdTable

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class NeighbourLists:
    """The lists of all items; `neighbours` holds rows of `ids`, the closest first."""

    version: str
    ids: NDArray[np.int64]
    """Ascending."""
    neighbours: NDArray[np.uint32]
    weights: NDArray[np.float16]

    def score(self, engaged: Sequence[int] | NDArray[Any]) -> Floats:
        """One score per item of `ids`, higher is better; all are zero if no item of the history is known."""
        rows = IdTable(self.ids).known(np.asarray(engaged, np.int64))
        return np.bincount(
            self.neighbours[rows].ravel(),
            self.weights[rows].ravel().astype(np.float32),
            minlength=len(self.ids),
        ).astype(np.float32)

    def strongest(self, scores: Floats, count: int) -> NDArray[np.int64]:
        """The ids of the items with the highest scores above zero, best first."""
        best = top_rows(scores, count)
        ids = IdTable(self.ids).ids_at(best)
        return ids[(ids != UNKNOWN) & (scores[best] > 0)]

    def scores_of(self, scores: Floats, ids: NDArray[np.int64]) -> Floats:
        """Of the scores of all items those of the ids given; zero for items without a list."""
        found, rows = np.zeros(len(ids), np.float32), IdTable(self.ids).find(ids)
        found[rows != UNKNOWN] = scores[rows[rows != UNKNOWN]]
        return found


class NeighbourListStore:
    """The published lists, in one directory."""

    def __init__(self, root: Path) -> None:
        self._generations = Generations(root)

    def publish(self, lists: NeighbourLists) -> None:
        """Replace the lists in use."""
        arrays = {"ids": lists.ids, "neighbours": lists.neighbours, "weights": lists.weights}
        with self._generations.lock():
            self._generations.publish(lists.version, arrays)

    def open(self) -> NeighbourLists:
        """The lists in use, mapped."""
        return self._generations.read(
            lambda found: NeighbourLists(
                found.version, found.map("ids"), found.map("neighbours"), found.map("weights")
            )
        )

    def erase_items(self, ids: Sequence[int]) -> None:
        """Remove items: their lists are empty and no list leads to them, in every process, at once."""
        with self._generations.lock():
            found = self._generations.open()
            rows = IdTable(found.map("ids", "r+")).erase(list(ids))
            if len(rows):
                found.map("weights", "r+")[rows] = 0
                found.map("neighbours", "r+")[rows] = 0


def top_rows(scores: Floats, count: int) -> NDArray[np.int64]:
    """The rows with the highest scores, highest first; equal ones in the order of their rows."""
    if count < len(scores):
        chosen = np.sort(np.argpartition(-scores, count - 1)[:count]) if count else np.empty(0, np.int64)
    else:
        chosen = np.arange(len(scores))
    return chosen[np.argsort(-scores[chosen], kind="stable")]
