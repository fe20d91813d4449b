"""Training set: interactions and features as the padded arrays that the towers are trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tintype.explore.errors import TrainingDataInvalid
from tintype.explore.features import ItemFeatures, PersonFeatures, pad_tokens
from tintype.explore.interactions import Interactions

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class TrainingSet:
    """One row per item of `interactions.item_ids`, and one per person of `interactions.person_ids`."""

    interactions: Interactions
    buckets: int
    item_tokens: tuple[NDArray[np.int32], Floats]
    person_tokens: tuple[NDArray[np.int32], Floats]
    pictures: Floats
    graph: Floats

    @classmethod
    def of(
        cls,
        interactions: Interactions,
        items: Sequence[ItemFeatures] = (),
        people: Sequence[PersonFeatures] = (),
        buckets: int = 1 << 16,
    ) -> "TrainingSet":
        """Collect the features; items and people without any are known by their ids alone.

        Raises TrainingDataInvalid if a number is not finite: nothing of such data is trained on.
        """
        by_item, by_person = {each.item_id: each for each in items}, {each.person_id: each for each in people}
        ordered_items = [by_item.get(int(each), ItemFeatures(int(each))) for each in interactions.item_ids]
        ordered_people = [by_person.get(int(each), PersonFeatures()) for each in interactions.person_ids]
        return cls(
            interactions,
            buckets,
            pad_tokens([each.tokens(buckets) for each in ordered_items]),
            pad_tokens([each.tokens(buckets) for each in ordered_people]),
            _dense({number: each.picture for number, each in enumerate(ordered_items)}),
            _dense({number: each.graph for number, each in enumerate(ordered_people)}),
        )

    @property
    def has_content(self) -> NDArray[Any]:
        """Whether an item is known by more than its id."""
        return np.asarray(self.item_tokens[1].any(axis=1) | self.pictures.any(axis=1))


def _dense(rows: Mapping[int, Floats | None]) -> Floats:
    """Rows of numbers, zeros where there are none; one column of zeros if nobody has any."""
    widths = {len(each) for each in rows.values() if each is not None}
    if len(widths) > 1:
        raise TrainingDataInvalid("Dense features must have one length.", lengths=sorted(widths))
    found = np.zeros((len(rows), widths.pop() if widths else 1), np.float32)
    for number, each in rows.items():
        if each is not None:
            found[number] = each
    if not np.isfinite(found).all():
        raise TrainingDataInvalid(rows=int((~np.isfinite(found).all(axis=1)).sum()))
    return found
