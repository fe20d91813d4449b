"""Graph filter in closed form: neighbour lists of items from who engaged with what, without gradient descent.

GF-CF (Shen et al., CIKM 2021): the interactions, normalised by the degrees of person and item, give a linear
low-pass filter (items that the same people engaged with) and an ideal one (the leading singular vectors). Both
are matrices of items by items; a person's scores are the sum of the rows of their history. The sum of both is
sharpened as in BSPM (Choi et al., 2023): what one more pass of the linear filter would blur is subtracted.
Rows are made in blocks and cut to the closest neighbours, so memory is bounded by the lists and not by the square
of the items.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tintype.explore.interactions import Interactions
from tintype.explore.neighbour_lists import NeighbourLists

Floats = NDArray[np.float32]
Sparse = Any
"""A scipy matrix: scipy ships without types."""
_BLOCK_NUMBERS = 1 << 23
"""Numbers in a block of rows: 32 MiB; a thread holds a handful of such blocks."""


@dataclass(frozen=True)
class FilterSettings:
    """What the filter is made of; the defaults lie where a validation split of Gowalla did well."""

    rank: int = 448
    """How many singular vectors pass the ideal filter."""
    low_pass: float = 0.3
    """The weight of the ideal filter beside the linear one."""
    sharpening: float = 0.7
    """How much of the blur is taken back; 0 is plain GF-CF.

    At 1 nothing is left of what the linear filter passes unchanged: in a small community of separate circles, the
    circles themselves.
    """
    neighbours: int = 1_000
    """The length of a list."""
    seed: int = 1


class GraphFilter:
    """The filter over the interactions given: scores of any history, and the lists that approximate them."""

    def __init__(self, interactions: Interactions, settings: FilterSettings | None = None) -> None:
        self._settings = settings or FilterSettings()
        self._item_ids = interactions.item_ids
        counts = np.maximum(interactions.item_counts, 1).astype(np.float32)
        self._item_scale = np.sqrt(counts)
        self._matrix = _normalised(interactions, self._item_scale)
        self._transposed = self._matrix.T.tocsr()
        rank = min(self._settings.rank, min(self._matrix.shape) - 1)
        self._basis = leading_vectors(self._matrix, rank, self._settings.seed)

    def score(self, histories: Sparse) -> Floats:
        """Scores of all items for rows of histories, a sparse matrix of people by items."""
        settings = self._settings
        scores = self._blur(histories.toarray().astype(np.float32))
        passed = (histories.multiply(1 / self._item_scale).tocsr() @ self._basis) @ self._basis.T
        scores += np.float32(settings.low_pass) * passed * self._item_scale
        if settings.sharpening:
            scores -= np.float32(settings.sharpening) * self._blur(scores)
        return scores

    def make_lists(self, version: str, threads: int = 1) -> NeighbourLists:
        """The strongest neighbours of each item: its row of the filter, without itself."""
        count = len(self._item_ids)
        length = min(self._settings.neighbours, max(count - 1, 0))
        neighbours, weights = np.zeros((count, length), np.uint32), np.zeros((count, length), np.float16)
        size = max(_BLOCK_NUMBERS // max(count, 1), 1)

        def make_block(start: int) -> None:
            rows = slice(start, start + size)
            neighbours[rows], weights[rows] = self._strongest(start, min(start + size, count), length)

        with ThreadPoolExecutor(threads) as pool:  # SciPy's products release the interpreter lock
            for _ in pool.map(make_block, range(0, count, size)):
                pass
        return NeighbourLists(version, self._item_ids, neighbours, weights)

    def _strongest(self, start: int, end: int, length: int) -> tuple[NDArray[np.uint32], NDArray[np.float16]]:
        """The lists of some items, from a history of one item each."""
        own = np.arange(start, end)
        ones = (np.ones(len(own), np.float32), (own - start, own))
        scores = self.score(sp.csr_matrix(ones, shape=(len(own), len(self._item_ids))))
        scores[own - start, own] = 0
        return _farthest_from_zero(scores, length)

    def _blur(self, rows: Floats) -> Floats:
        """The linear filter: rows times the normalised co-occurrence of items."""
        return np.ascontiguousarray((self._transposed @ (self._matrix @ rows.T)).T)


def _normalised(interactions: Interactions, item_scale: Floats) -> Sparse:
    """People by items: one over the roots of both degrees where somebody engaged, else zero."""
    degrees = np.maximum(np.diff(interactions.starts), 1).astype(np.float32)
    people = interactions.people
    values = 1 / (np.sqrt(degrees)[people] * item_scale[interactions.items])
    shape = (len(interactions.person_ids), len(interactions.item_ids))
    return sp.csr_matrix((values.astype(np.float32), (people, interactions.items)), shape=shape)


def leading_vectors(matrix: Sparse, rank: int, seed: int, passes: int = 6) -> Floats:
    """The leading right singular vectors, by randomised subspace iteration (Halko et al., 2011), as columns."""
    width = min(rank + 32, *matrix.shape)
    basis = np.random.default_rng(seed).standard_normal((matrix.shape[1], width), np.float32)
    for _ in range(passes):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    _, _, rotation = np.linalg.svd(matrix @ basis, full_matrices=False)
    return (basis @ rotation[:rank].T).astype(np.float32)


def _farthest_from_zero(scores: Floats, length: int) -> tuple[NDArray[np.uint32], NDArray[np.float16]]:
    """Columns and weights of the scores of each row that are farthest from zero, highest first.

    Sharpening makes some negative: dropped, they would lift what they hold down. Half precision has three digits
    and begins at 6e-8; weights are scaled by 4,096, which changes no order.
    """
    farness: NDArray[Any] = -np.abs(scores)
    last = min(length, scores.shape[1]) - 1
    chosen: NDArray[np.int64] = np.argpartition(farness, last, axis=1)[:, :length]
    order = np.argsort(-np.take_along_axis(scores, chosen, 1), axis=1, kind="stable")
    chosen = np.take_along_axis(chosen, order, 1)
    kept = np.take_along_axis(scores, chosen, 1)
    return chosen.astype(np.uint32), np.clip(kept * 4096, -60_000, 60_000).astype(np.float16)
