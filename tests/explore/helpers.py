"""Small communities for tests of explore."""

import numpy as np

from tintype.explore import Interactions, ItemFeatures
from tintype.explore.training import TowerSettings

SMALL = TowerSettings(dimension=16, batch=64, negatives=16, history=4, learning_rate=0.02, temperature=0.2)
BUCKETS = 256


def two_circles(people: int = 40, items: int = 30, seed: int = 5) -> Interactions:
    """People of two circles, each engaging with most items of their own circle; ids are not consecutive."""
    chance = np.random.default_rng(seed)
    half = items // 2
    histories: dict[int, list[int]] = {}
    for person in range(people):
        own = np.arange(half) + (person % 2) * half
        chosen = chance.choice(own, half * 2 // 3, replace=False)
        histories[100 + 3 * person] = [int(1_000 + 7 * each) for each in chosen]
    return Interactions.of(histories, [1_000 + 7 * each for each in range(items)])


def circle_of_item(item_id: int, items: int = 30) -> int:
    return int((item_id - 1_000) // 7 >= items // 2)


def circle_of_person(person_id: int) -> int:
    return (person_id - 100) // 3 % 2


def item_at(item_id: int) -> ItemFeatures:
    """An item with the author and the tag of its circle."""
    circle = circle_of_item(item_id)
    return ItemFeatures(item_id, 50 + circle, (f"circle{circle}",))
