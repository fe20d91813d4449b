"""Retrieval: the items that suit a person, by the towers and the graph filter together.

Each proposes candidates; every candidate is scored by both. Scores of the two differ in scale from person to person,
so each is brought to mean zero and deviation one over the candidates before they are added. What is not in the index
is not shown: an item that was erased there is gone from the filter's proposals as well.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tintype.explore.features import PersonFeatures
from tintype.explore.neighbour_lists import NeighbourLists, top_rows
from tintype.explore.towers import TowerModel
from tintype.explore.vector_index import VectorIndex

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class BlendSettings:
    """How the two are put together."""

    filter_weight: float = 3.0
    """How much the filter counts beside the towers."""
    candidates: int = 500
    """How many items each of the two proposes."""


@dataclass(frozen=True)
class Candidates:
    """Items with the scores that each of the two gave them; in no order."""

    ids: Ids
    tower: Floats
    filter: Floats

    def rank(self, filter_weight: float, count: int) -> tuple[Ids, Floats]:
        """The best items and their blended scores, best first."""
        blended = _standardised(self.tower) + filter_weight * _standardised(self.filter)
        scores = blended.astype(np.float32)
        best = top_rows(scores, count)
        return self.ids[best], scores[best]


class Retriever:
    """Retrieves items for people; the index must be of the version of the towers."""

    def __init__(
        self,
        towers: TowerModel,
        lists: NeighbourLists,
        index: VectorIndex,
        settings: BlendSettings | None = None,
    ) -> None:
        self._towers, self._lists, self._index = towers, lists, index
        self._settings = settings or BlendSettings()

    def retrieve(
        self, person: PersonFeatures, count: int, hidden: Collection[int] = ()
    ) -> tuple[Ids, Floats]:
        """The items that suit a person best, without those of their history and those that are hidden from them."""
        return self.propose(person, hidden).rank(self._settings.filter_weight, count)

    def propose(self, person: PersonFeatures, hidden: Collection[int] = ()) -> Candidates:
        """Candidates of both, each scored by both."""
        left_out = np.union1d(np.asarray(person.engaged, np.int64), np.fromiter(hidden, np.int64))
        size, vector = self._settings.candidates, self._towers.embed_person(person)
        near, _ = self._index.search(vector, size + len(left_out))
        filtered = self._lists.score(person.engaged)
        linked = self._lists.strongest(filtered, size + len(left_out))
        ids, tower = self._index.score(
            vector, np.setdiff1d(np.union1d(near, linked), left_out, assume_unique=True)
        )
        return Candidates(ids, tower, self._lists.scores_of(filtered, ids))


def _standardised(scores: Floats) -> Floats:
    """Scores with mean zero and deviation one; zeros if they are all the same."""
    deviation = scores.std() if len(scores) else np.float32(0)
    return (scores - scores.mean()) / deviation if deviation > 0 else np.zeros_like(scores)
