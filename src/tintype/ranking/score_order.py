"""From predicted outcomes to an order: one score, freshness, seen posts at the bottom, and author diversity."""

from collections import deque
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tintype.ranking.outcome_model import FEATURES, OUTCOMES
from tintype.ranking.row_layouts import Floats
from tintype.ranking.weights import Weights

_FRESHNESS, _SEEN = FEATURES.index("freshness"), FEATURES.index("seen")
MAX_POWERS = 1_000
Positions = NDArray[np.intp]
"""Row numbers."""


class ScoreOrder:
    """Orders posts by one set of weights."""

    def __init__(self, weights: Weights) -> None:
        order = weights.order
        self.values = np.array([getattr(weights.outcomes, name).value for name in OUTCOMES], np.float32)
        self._floor, self._seen_factor = order.freshness_floor, order.seen_factor
        self._powers = (order.same_author_factor ** np.arange(MAX_POWERS)).astype(np.float32)
        self._max_in_a_row = order.most_in_a_row

    def scores(self, features: Floats, outcomes: Floats) -> Floats:
        """The score of each post by itself, without regard to the others."""
        # Not `@`, here and in the model: that warns of flags which BLAS sets in lanes that it does not use.
        return cast("Floats", outcomes.dot(self.values) * self.factors(features))

    def factors(self, features: Floats) -> Floats:
        """The share of a post's score that is left by its age and by having been seen."""
        factors = self.by_age(features)
        return factors * self.by_seen(features) if np.count_nonzero(features[:, _SEEN]) else factors

    def by_age(self, features: Floats) -> Floats:
        """The share that is left by age."""
        return cast("Floats", self._floor + (1 - self._floor) * features[:, _FRESHNESS])

    def by_seen(self, features: Floats) -> Floats:
        """The share that is left of a post that was seen."""
        return cast("Floats", 1 - (1 - self._seen_factor) * features[:, _SEEN])

    def arrange(self, scores: Floats, authors: NDArray[np.uint64]) -> tuple[Positions, Floats]:
        """The posts' row numbers, best first, and falling scores; equal scores keep the order they came in."""
        first = (-scores).argsort(kind="stable")
        ordered = authors[first]
        damped = scores[first] * self._powers[_earlier(ordered)]
        second = (-damped).argsort(kind="stable")
        rows, final = first[second], damped[second]
        ordered = ordered[second]
        if _has_run(ordered, self._max_in_a_row):
            spread = _spread(ordered.tolist(), self._max_in_a_row)
            rows, final = rows[spread], np.minimum.accumulate(final[spread])
        return rows, final


def _earlier(authors: NDArray[np.uint64]) -> Positions:
    """For each post, how many of the same author come before it; unknown authors count as different ones."""
    count = np.arange(len(authors))
    grouped = authors.argsort(kind="stable")
    same = authors[grouped]
    starts = np.empty(len(authors), np.bool_)
    starts[:1] = True
    np.not_equal(same[1:], same[:-1], out=starts[1:])
    begins = np.maximum.accumulate(np.where(starts, count, 0))
    earlier = np.empty(len(authors), np.intp)
    earlier[grouped] = np.minimum(count - begins, MAX_POWERS - 1)
    earlier[authors == 0] = 0
    return earlier


def _has_run(authors: NDArray[np.uint64], limit: int) -> bool:
    if len(authors) <= limit:
        return False
    alike = (authors[1:] == authors[:-1]) & (authors[1:] != 0)
    run = alike[: len(alike) - limit + 1]
    for step in range(1, limit):
        run = run & alike[step : len(alike) - limit + 1 + step]
    return bool(run.any())


def _spread(authors: list[int], limit: int) -> list[int]:
    """Row numbers such that no author has more than `limit` in a row while others are left, each as early as it can."""
    waiting: deque[int] = deque()
    placed: list[int] = []
    last, run = -1, 0
    remaining = deque(range(len(authors)))
    while remaining or waiting:
        is_full = run >= limit and last != 0
        source = waiting if waiting and not (is_full and authors[waiting[0]] == last) else remaining
        if not source:  # only posts of one author are left
            placed += waiting
            break
        row = source.popleft()
        if is_full and authors[row] == last:
            waiting.append(row)
            continue
        run = run + 1 if authors[row] == last else 1
        last = authors[row]
        placed.append(row)
    return placed
