"""Features: what is known of some posts and of their viewer, as one matrix. Whatever is not known is nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shardwright.ids.layout import TIME_SHIFT
from tintype.ranking.rows import AFFINITY, ALBUM, INTEREST, SEEN, VIDEO, Floats, Rows, read, short
from tintype.ranking.scorer import FEATURES
from tintype.ranking.weights import Weights

_AFFINITY, _INTEREST, _POPULARITY, _FRESHNESS, _CADENCE, _VIDEO, _ALBUM, _SEEN = range(len(FEATURES))
Ids = NDArray[np.uint64]
_SHIFT = np.uint64(TIME_SHIFT)


@dataclass(frozen=True)
class Known:
    """What is known of a viewer."""

    affinity: Rows
    interest: Rows
    seen: NDArray[np.uint32]

    @classmethod
    def read(cls, blobs: Sequence[bytes | None]) -> "Known":
        """From what Redis holds; from nothing, nothing is known."""
        affinity, interest, seen = blobs
        return cls(read(affinity, AFFINITY), read(interest, INTEREST), np.sort(read(seen, SEEN)))


NOBODY = Known.read((None, None, None))


class Features:
    """Builds feature matrices by one set of weights."""

    def __init__(self, weights: Weights, epoch_ms: int) -> None:
        self._epoch_s = epoch_ms / 1000
        self._affinity, self._interest, self._velocity = weights.affinity, weights.interest, weights.velocity
        self._most_popular = float(np.log1p(weights.velocity.scale))
        self._half_after_s = weights.freshness.half_after_hours * 3_600
        self._typical = weights.cadence.typical_per_day

    def build(self, ids: Ids, posts: Rows, known: Known, now_s: float) -> Floats:
        """A row for each post, a column for each feature; columns lie together in memory, as they are filled."""
        matrix = np.empty((len(ids), len(FEATURES)), np.float32, order="F")
        matrix[:, _AFFINITY] = self.closeness(known.affinity, posts["author"], now_s)
        matrix[:, _INTEREST] = self._interests(known.interest, posts["tags"], now_s)
        matrix[:, _POPULARITY] = self._popularity(posts, now_s)
        made_s = (ids >> _SHIFT).astype(np.float64) * 0.001 + self._epoch_s
        matrix[:, _FRESHNESS] = self._half_after_s / (self._half_after_s + np.maximum(now_s - made_s, 0.0))
        cadence = posts["cadence"]
        matrix[:, _CADENCE] = cadence / (cadence + self._typical)
        flags = posts["flags"]
        matrix[:, _VIDEO] = flags & VIDEO
        matrix[:, _ALBUM] = (flags & ALBUM) != 0
        matrix[:, _SEEN] = _among(known.seen, short(ids))
        return matrix

    def closeness(self, affinity: Rows, authors: NDArray[np.uint64], now_s: float) -> Floats:
        """From nothing to one: how close the viewer is to each author."""
        if not len(affinity):
            return np.zeros(len(authors), np.float32)
        faded = _faded(affinity, self._affinity.half_life_s, now_s)
        return -np.expm1(_look_up(affinity["key"], faded, authors) * (-1 / self._affinity.scale))

    def _interests(self, interest: Rows, tags: NDArray[np.uint32], now_s: float) -> Floats:
        if not len(interest):
            return np.zeros(len(tags), np.float32)
        faded = _faded(interest, self._interest.half_life_s, now_s)
        summed = _look_up(interest["key"], faded, tags.ravel()).reshape(tags.shape).sum(axis=1)
        return -np.expm1(summed * (-1 / self._interest.scale))

    def _popularity(self, posts: Rows, now_s: float) -> Floats:
        level = np.log1p(_faded(posts, self._velocity.half_life_s, now_s))
        return np.minimum(level * (1 / self._most_popular), 1.0)


def _faded(rows: Rows, half_life_s: float, now_s: float) -> Floats:
    """What is left of each value now."""
    ages = (rows["at"].astype(np.float64) - now_s) * (1 / half_life_s)
    left = rows["value"] * np.exp2(np.minimum(ages, 0.0))
    return left.astype(np.float32)


def _look_up(keys: NDArray[Any], values: Floats, wanted: NDArray[Any]) -> Floats:
    """The value under each wanted key, or nothing."""
    order = keys.argsort()
    ordered = keys[order]
    places = ordered.searchsorted(wanted)
    places[places == len(ordered)] = 0
    return values[order[places]] * (ordered[places] == wanted)


def _among(ordered: NDArray[np.uint32], wanted: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each of the wanted is in the ordered list."""
    if not len(ordered):
        return np.zeros(len(wanted), np.bool_)
    places = ordered.searchsorted(wanted)
    places[places == len(ordered)] = 0
    return ordered[places] == wanted
