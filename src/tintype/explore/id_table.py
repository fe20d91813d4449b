"""Id tables: which row of an array belongs to which id, as one sorted, memory-mapped array.

A table says nothing about an id that was erased, and does not contain it any more: its place holds a copy of the
entry before it (or -1), so that the order, and with it every other row, stays.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
UNKNOWN = -1


class IdTable:
    """Ids in ascending order; the row of an id is its place in the order. Ids are positive or zero."""

    def __init__(self, ids: NDArray[Any]) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def find(self, ids: NDArray[Any] | list[int]) -> Ids:
        """The row of each id; UNKNOWN for those that are not in the table."""
        wanted = np.asarray(ids, np.int64)
        if not len(self._ids):
            return np.full(len(wanted), UNKNOWN, np.int64)
        rows = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return np.where((self._ids[rows] == wanted) & (wanted >= 0), rows, UNKNOWN)

    def known(self, ids: NDArray[Any] | list[int]) -> Ids:
        """The rows of those ids that are in the table."""
        rows = self.find(ids)
        return rows[rows != UNKNOWN]

    def ids_at(self, rows: NDArray[Any]) -> Ids:
        """The id of each row; UNKNOWN for rows whose id was erased."""
        ids, before = self._ids[rows], self._ids[np.maximum(rows - 1, 0)]
        return np.where((ids == before) & (rows > 0), UNKNOWN, ids).astype(np.int64)

    def erase(self, ids: NDArray[Any] | list[int]) -> Ids:
        """Remove ids, in place: the array must be writable. Returns the rows that they had."""
        rows = self.known(ids)
        for row in rows:
            self._erase_row(int(row))
        return rows

    def _erase_row(self, row: int) -> None:
        erased, before = int(self._ids[row]), int(self._ids[row - 1]) if row else UNKNOWN
        while row < len(self._ids) and self._ids[row] == erased:  # copies stand behind their original
            self._ids[row] = before
            row += 1
