"""Features: what is known of some posts and of their viewer, as one matrix. Whatever is not known is nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shardwright.ids.layout import TIME_SHIFT
from tintype.ranking.rows import AFFINITY, INTEREST, SEEN, TAG_NUMBERS, Floats, Posts, Rows, read, short
from tintype.ranking.scorer import FEATURES
from tintype.ranking.weights import Weights

_AFFINITY, _INTEREST, _POPULARITY, _FRESHNESS, _CADENCE, _VIDEO, _ALBUM, _SEEN = range(len(FEATURES))
Ids = NDArray[np.uint64]
_SECONDS = 0.001 / (1 << TIME_SHIFT)
"""What one step of an id is in seconds; its lowest bits, which are lost on the way, are no time."""
_board = np.zeros(TAG_NUMBERS)
"""Interests, spread out by number for as long as one matrix is built: faster than looking them up, and empty again."""


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
        if not affinity and not interest and not seen:
            return NOBODY
        return cls(read(affinity, AFFINITY), read(interest, INTEREST), np.sort(read(seen, SEEN)))


NOBODY = Known(read(None, AFFINITY), read(None, INTEREST), read(None, SEEN))


class Features:
    """Builds feature matrices by one set of weights."""

    def __init__(self, weights: Weights, epoch_ms: int) -> None:
        self._epoch_s = epoch_ms / 1000
        self._affinity, self._interest, self._velocity = weights.affinity, weights.interest, weights.velocity
        self._most_popular = float(np.log1p(weights.velocity.scale))
        self._half_after_s = weights.freshness.half_after_hours * 3_600
        self._typical = weights.cadence.typical_per_day

    def build(self, ids: Ids, posts: Posts, known: Known, now_s: float) -> Floats:
        """A row for each post, a column for each feature."""
        return self.add_viewer(
            self.lasting(posts, now_s), ids, posts.author, posts.tags, known=known, now_s=now_s
        )

    def lasting(self, posts: Posts, now_s: float) -> Floats:
        """What is the same for every viewer and hardly changes within a minute; the other columns are zero."""
        matrix = np.zeros((len(posts.author), len(FEATURES)), np.float32)
        matrix[:, _POPULARITY] = self._popularity(posts, now_s)
        matrix[:, _CADENCE] = posts.cadence / (posts.cadence + self._typical)
        matrix[:, _VIDEO] = posts.video
        matrix[:, _ALBUM] = posts.album
        return matrix

    def add_viewer(
        self,
        matrix: Floats,
        ids: Ids,
        authors: NDArray[np.uint64],
        tags: NDArray[np.uint16],
        *,
        known: Known,
        now_s: float,
    ) -> Floats:
        """The same matrix with the columns of the viewer and of the moment filled."""
        ages_s = ids * -_SECONDS
        ages_s += now_s - self._epoch_s + self._half_after_s
        np.maximum(ages_s, self._half_after_s, out=ages_s)
        matrix[:, _FRESHNESS] = self._half_after_s / ages_s
        if len(known.affinity):
            matrix[:, _AFFINITY] = self.closeness(known.affinity, authors, now_s)
        if len(known.interest):
            matrix[:, _INTEREST] = self._interests(known.interest, tags, now_s)
        if len(known.seen):
            matrix[:, _SEEN] = _among(known.seen, short(ids))
        return matrix

    def closeness(self, affinity: Rows, authors: NDArray[np.uint64], now_s: float) -> NDArray[np.float64]:
        """From nothing to one: how close the viewer is to each author."""
        if not len(affinity):
            return np.zeros(len(authors))
        faded = _faded(affinity["value"], affinity["at"], self._affinity.half_life_s, now_s)
        return _bent(_look_up(affinity["key"], faded, authors), self._affinity.scale)

    def _interests(self, interest: Rows, tags: NDArray[np.uint16], now_s: float) -> NDArray[np.float64]:
        keys = interest["key"]
        _board[keys] = _faded(interest["value"], interest["at"], self._interest.half_life_s, now_s)
        summed: NDArray[np.float64] = _board.take(tags).sum(axis=0)
        _board[keys] = 0.0
        return _bent(summed, self._interest.scale)

    def _popularity(self, posts: Posts, now_s: float) -> NDArray[np.float64]:
        level = np.log1p(_faded(posts.value, posts.at, self._velocity.half_life_s, now_s))
        level *= 1 / self._most_popular
        return np.minimum(level, 1.0, out=level)


def _faded(
    values: NDArray[Any], since: NDArray[Any], half_life_s: float, now_s: float
) -> NDArray[np.float64]:
    """What is left of each value now."""
    ages = since - now_s
    ages *= 1 / half_life_s
    np.minimum(ages, 0.0, out=ages)
    np.exp2(ages, out=ages)
    ages *= values
    return ages


def _bent(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """From nothing towards one, of which `scale` is 63 %."""
    bent = values * (-1 / scale)
    np.expm1(bent, out=bent)
    return np.negative(bent, out=bent)


def _look_up(keys: NDArray[Any], values: NDArray[np.float64], wanted: NDArray[Any]) -> NDArray[np.float64]:
    """The value under each wanted key, or nothing."""
    order = keys.argsort()
    ordered = keys.take(order)
    places = ordered.searchsorted(wanted)
    found = values.take(order).take(places, mode="clip")
    found *= ordered.take(places, mode="clip") == wanted
    return found


def _among(ordered: NDArray[np.uint32], wanted: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each of the wanted is in the ordered list, which is not empty."""
    return ordered.take(ordered.searchsorted(wanted), mode="clip") == wanted
