"""From probabilities to an order: one score, freshness, seen posts at the bottom, and no author in a crowd."""

from collections import deque
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tintype.ranking.rows import Floats
from tintype.ranking.scorer import FEATURES, OUTCOMES
from tintype.ranking.weights import Weights

_FRESHNESS, _SEEN = FEATURES.index("freshness"), FEATURES.index("seen")
MOST_POWERS = 1_000
Places = NDArray[np.intp]


class Ordering:
    """Makes orders by one set of weights."""

    def __init__(self, weights: Weights) -> None:
        rules = weights.order
        self.values = np.array([getattr(weights.outcomes, name).value for name in OUTCOMES], np.float32)
        self._floor, self._seen_factor = rules.freshness_floor, rules.seen_factor
        self._powers = (rules.same_author_factor ** np.arange(MOST_POWERS)).astype(np.float32)
        self._most_in_a_row = rules.most_in_a_row

    def scores(self, features: Floats, outcomes: Floats) -> Floats:
        """What each post is worth by itself."""
        return cast("Floats", (outcomes @ self.values) * self.factors(features))

    def factors(self, features: Floats) -> Floats:
        """What age and having been seen leave of a post's worth."""
        factors = self.by_age(features)
        return factors * self.by_sight(features) if features[:, _SEEN].any() else factors

    def by_age(self, features: Floats) -> Floats:
        """What is left at a post's age."""
        return cast("Floats", self._floor + (1 - self._floor) * features[:, _FRESHNESS])

    def by_sight(self, features: Floats) -> Floats:
        """What is left of a post that was seen."""
        return cast("Floats", 1 - (1 - self._seen_factor) * features[:, _SEEN])

    def arrange(self, scores: Floats, authors: NDArray[np.uint64]) -> tuple[Places, Floats]:
        """The posts' places, best first, and a score that falls along them; equals keep the order they came in."""
        first = (-scores).argsort(kind="stable")
        ordered = authors[first]
        damped = scores[first] * self._powers[_earlier(ordered)]
        second = (-damped).argsort(kind="stable")
        places, final = first[second], damped[second]
        ordered = ordered[second]
        if _has_run(ordered, self._most_in_a_row):
            spread = _spread(ordered.tolist(), self._most_in_a_row)
            places, final = places[spread], np.minimum.accumulate(final[spread])
        return places, final


def _earlier(authors: NDArray[np.uint64]) -> Places:
    """For each post how many of the same author come before it; posts whose author is not known stand alone."""
    count = np.arange(len(authors))
    grouped = authors.argsort(kind="stable")
    same = authors[grouped]
    starts = np.empty(len(authors), np.bool_)
    starts[:1] = True
    np.not_equal(same[1:], same[:-1], out=starts[1:])
    begins = np.maximum.accumulate(np.where(starts, count, 0))
    earlier = np.empty(len(authors), np.intp)
    earlier[grouped] = np.minimum(count - begins, MOST_POWERS - 1)
    earlier[authors == 0] = 0
    return earlier


def _has_run(authors: NDArray[np.uint64], most: int) -> bool:
    if len(authors) <= most:
        return False
    alike = (authors[1:] == authors[:-1]) & (authors[1:] != 0)
    run = alike[: len(alike) - most + 1]
    for step in range(1, most):
        run = run & alike[step : len(alike) - most + 1 + step]
    return bool(run.any())


def _spread(authors: list[int], most: int) -> list[int]:
    """Places such that nobody has more than `most` in a row, as far as there are others; each as early as it can be."""
    waiting: deque[int] = deque()
    placed: list[int] = []
    last, run = -1, 0
    remaining = deque(range(len(authors)))
    while remaining or waiting:
        is_full = run >= most and last != 0
        source = waiting if waiting and not (is_full and authors[waiting[0]] == last) else remaining
        if not source:  # only posts of one author are left
            placed += waiting
            break
        place = source.popleft()
        if is_full and authors[place] == last:
            waiting.append(place)
            continue
        run = run + 1 if authors[place] == last else 1
        last = authors[place]
        placed.append(place)
    return placed
