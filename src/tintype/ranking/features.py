"""Features: what is known of some posts and of their viewer, as one matrix. Whatever is unknown is zero."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shardwright.ids.layout import TIME_SHIFT
from tintype.base.ids import PostId
from tintype.ranking.outcome_model import FEATURES
from tintype.ranking.row_layouts import (
    AFFINITY,
    INTEREST,
    SEEN,
    TAG_NUMBERS,
    Floats,
    PostColumns,
    Rows,
    parse,
    short_hash,
)
from tintype.ranking.weights import Weights

_AFFINITY, _INTEREST, _POPULARITY, _FRESHNESS, _CADENCE, _VIDEO, _ALBUM, _SEEN = range(len(FEATURES))
Ids = NDArray[np.uint64]
_SECONDS = 0.001 / (1 << TIME_SHIFT)
"""Seconds per unit of an id; the lowest bits, which float arithmetic loses, are not part of the time."""
_interest_by_tag = np.zeros(TAG_NUMBERS)
"""Scratch space: interests by tag number while one matrix is built, then zero again. Faster than searching."""


@dataclass(frozen=True)
class ViewerFeatures:
    """The features of a viewer: closeness to authors, interest in hashtags, and posts seen."""

    affinity: Rows
    interest: Rows
    seen: NDArray[np.uint32]

    @classmethod
    def parse(cls, blobs: Sequence[bytes | None]) -> "ViewerFeatures":
        """From the reply to `Keys.viewer_features_command`; `NO_FEATURES` where Redis has nothing."""
        affinity, interest, seen = blobs
        if not affinity and not interest and not seen:
            return NO_FEATURES
        return cls(parse(affinity, AFFINITY), parse(interest, INTEREST), np.sort(parse(seen, SEEN)))

    def unseen(self, ids: Sequence[PostId]) -> list[PostId]:
        """Those of the posts that the viewer has not seen, in the same order."""
        if not len(self.seen) or not ids:
            return list(ids)
        is_seen = _is_in(self.seen, short_hash(np.array(ids, np.uint64))).tolist()
        return [each for each, was_seen in zip(ids, is_seen, strict=True) if not was_seen]


NO_FEATURES = ViewerFeatures(parse(None, AFFINITY), parse(None, INTEREST), parse(None, SEEN))


class FeatureBuilder:
    """Builds feature matrices with one set of weights."""

    def __init__(self, weights: Weights, epoch_ms: int) -> None:
        self._epoch_s = epoch_ms / 1000
        self._affinity, self._interest, self._velocity = weights.affinity, weights.interest, weights.velocity
        self._max_popularity = float(np.log1p(weights.velocity.scale))
        self._half_after_s = weights.freshness.half_after_hours * 3_600
        self._typical = weights.cadence.typical_per_day

    def build(self, ids: Ids, posts: PostColumns, viewer: ViewerFeatures, now_s: float) -> Floats:
        """The feature matrix: a row for each post, a column for each feature."""
        return self.add_viewer(
            self.lasting(posts, now_s), ids, posts.author, posts.tags, viewer=viewer, now_s=now_s
        )

    def lasting(self, posts: PostColumns, now_s: float) -> Floats:
        """The columns that are the same for every viewer and hardly change within a minute; the others are zero."""
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
        viewer: ViewerFeatures,
        now_s: float,
    ) -> Floats:
        """Fill in the columns that depend on the viewer and on the time, and return the same matrix."""
        ages_s = ids * -_SECONDS
        ages_s += now_s - self._epoch_s + self._half_after_s
        np.maximum(ages_s, self._half_after_s, out=ages_s)
        matrix[:, _FRESHNESS] = self._half_after_s / ages_s
        if len(viewer.affinity):
            matrix[:, _AFFINITY] = self.closeness(viewer.affinity, authors, now_s)
        if len(viewer.interest):
            matrix[:, _INTEREST] = self._interests(viewer.interest, tags, now_s)
        if len(viewer.seen):
            matrix[:, _SEEN] = _is_in(viewer.seen, short_hash(ids))
        return matrix

    def closeness(self, affinity: Rows, authors: NDArray[np.uint64], now_s: float) -> NDArray[np.float64]:
        """How close the viewer is to each author, from 0 to 1."""
        if not len(affinity):
            return np.zeros(len(authors))
        decayed = _decayed(affinity["value"], affinity["at"], self._affinity.half_life_s, now_s)
        return _saturated(_look_up(affinity["key"], decayed, authors), self._affinity.scale)

    def _interests(self, interest: Rows, tags: NDArray[np.uint16], now_s: float) -> NDArray[np.float64]:
        keys = interest["key"]
        _interest_by_tag[keys] = _decayed(
            interest["value"], interest["at"], self._interest.half_life_s, now_s
        )
        summed: NDArray[np.float64] = _interest_by_tag.take(tags).sum(axis=0)
        _interest_by_tag[keys] = 0.0
        return _saturated(summed, self._interest.scale)

    def _popularity(self, posts: PostColumns, now_s: float) -> NDArray[np.float64]:
        level = np.log1p(_decayed(posts.value, posts.at, self._velocity.half_life_s, now_s))
        level *= 1 / self._max_popularity
        return np.minimum(level, 1.0, out=level)


def _decayed(
    values: NDArray[Any], since: NDArray[Any], half_life_s: float, now_s: float
) -> NDArray[np.float64]:
    """What exponential decay has left of each value."""
    ages = since - now_s
    ages *= 1 / half_life_s
    np.minimum(ages, 0.0, out=ages)
    np.exp2(ages, out=ages)
    ages *= values
    return ages


def _saturated(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Saturate values from 0 towards 1; a value of `scale` becomes 63 %."""
    saturated = values * (-1 / scale)
    np.expm1(saturated, out=saturated)
    return np.negative(saturated, out=saturated)


def _look_up(keys: NDArray[Any], values: NDArray[np.float64], wanted: NDArray[Any]) -> NDArray[np.float64]:
    """The value of each wanted key, or 0."""
    order = keys.argsort()
    ordered = keys.take(order)
    positions = ordered.searchsorted(wanted)
    found = values.take(order).take(positions, mode="clip")
    found *= ordered.take(positions, mode="clip") == wanted
    return found


def _is_in(ordered: NDArray[np.uint32], wanted: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each of the wanted is in the sorted array, which must not be empty."""
    return ordered.take(ordered.searchsorted(wanted), mode="clip") == wanted
