"""Interactions: who engaged with what, as rows of numbers that training reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore.errors import TrainingDataInvalid


@dataclass(frozen=True)
class Interactions:
    """Histories of people in compressed rows: those of person k are `items[starts[k]:starts[k + 1]]`.

    People and items are named by their place in `person_ids` and `item_ids`, which are ascending.
    """

    person_ids: NDArray[np.int64]
    item_ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    items: NDArray[np.int32]
    """Rows of `item_ids`, each at most once in a history."""

    @classmethod
    def of(
        cls, histories: Mapping[int, Sequence[int]], item_ids: Sequence[int] | None = None
    ) -> "Interactions":
        """From ids of items by id of person; `item_ids` may name items that nobody has engaged with yet."""
        people = sorted(histories)
        engaged = [np.unique(np.asarray(histories[each], np.int64)) for each in people]
        every = np.concatenate([*engaged, np.asarray(item_ids or [], np.int64)])
        known = np.unique(every)
        if len(known) and known[0] < 0:
            raise TrainingDataInvalid("Ids of items are not negative.", smallest=int(known[0]))
        starts = np.concatenate([[0], np.cumsum([len(each) for each in engaged])]).astype(np.int64)
        items = np.searchsorted(known, every[: starts[-1]]).astype(np.int32)
        return cls(np.array(people, np.int64), known, starts, items)

    @property
    def people(self) -> NDArray[np.int32]:
        """The person of each interaction, as a row of `person_ids`."""
        return np.repeat(np.arange(len(self.person_ids), dtype=np.int32), np.diff(self.starts))

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """How many people engaged with each item."""
        return np.bincount(self.items, minlength=len(self.item_ids))

    def history(self, person: int) -> NDArray[np.int32]:
        """What one person engaged with; person and items are rows."""
        return self.items[self.starts[person] : self.starts[person + 1]]

    def split(self, share: float, seed: int) -> tuple["Interactions", "Interactions"]:
        """Hold out a random share of each person's history: what is left to train on, and what is to be predicted."""
        chance = np.random.default_rng(seed).random(len(self.items))
        order = np.lexsort((chance, self.people))
        place = np.arange(len(self.items)) - self.starts[self.people]
        is_held_out = np.zeros(len(self.items), bool)
        is_held_out[order] = place < np.rint(np.diff(self.starts)[self.people] * share)
        return self._only(~is_held_out), self._only(is_held_out)

    def _only(self, chosen: NDArray[Any]) -> "Interactions":
        counts = np.bincount(self.people[chosen], minlength=len(self.person_ids))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Interactions(self.person_ids, self.item_ids, starts, self.items[chosen])
