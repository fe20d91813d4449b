"""Who there is and who follows whom: a few are followed by many, most by few, and a quarter never comes back.

The chance to be followed falls with a person's place in the order of fame as place^-0.8, which gives the straight line
on doubly logarithmic paper that follower counts of real sites show. How many one follows is spread out as well.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from random import Random

from tintype.simulation.models import Choices, Habit, Person

FAME = 0.8
SPREAD = 0.7
"""Standard deviation of the logarithm of how many one follows."""
MOST_FOLLOWEES = 7_000
HABITS = (
    Habit("away", 0.25, 0.0, 0.0),
    Habit("casual", 0.45, 0.05, 2.0),
    Habit("regular", 0.22, 0.4, 8.0),
    Habit("devoted", 0.08, 2.0, 25.0),
)
FAMOUS_SHARE = 0.01
"""The most followed post a lot: a star who stays away would say nothing about the threshold."""
ZONES = ((-8.0, 2), (-5.0, 3), (-3.0, 2), (0.0, 2), (1.0, 4), (3.0, 2), (5.5, 4), (8.0, 4), (9.0, 2))


def invent_people(choices: Choices) -> list[Person]:
    """The same people for the same choices, every time."""
    chance = Random(f"{choices.seed}/people")  # noqa: S311 - the same every time, on purpose
    order = list(range(choices.people))
    chance.shuffle(order)
    fame = Fame(order)
    famous = set(order[: max(1, round(choices.people * FAMOUS_SHARE))])
    shares, (hours, weights) = [habit.share for habit in HABITS], zip(*ZONES, strict=True)
    return [
        Person(
            number,
            HABITS[-1] if number in famous else chance.choices(HABITS, shares)[0],
            chance.choices(hours, weights)[0],
            fame.draw(chance, _how_many(chance, choices), number),
        )
        for number in range(choices.people)
    ]


def count_followers(people: Sequence[Person]) -> Counter[int]:
    """How many follow each, by number."""
    return Counter(followee for person in people for followee in person.followees)


class Fame:
    """Draws people, the famous more often."""

    def __init__(self, order: Sequence[int]) -> None:
        self._order = order
        self._summed = list(accumulate((place + 1) ** -FAME for place in range(len(order))))

    def draw(self, chance: Random, count: int, besides: int) -> tuple[int, ...]:
        """So many different people, none of them `besides`; fewer when the same ones keep coming up."""
        found: dict[int, None] = {}
        for _ in range(count * 8):
            if len(found) == count:
                break
            drawn = self._order[bisect(self._summed, chance.random() * self._summed[-1])]
            if drawn != besides:
                found[drawn] = None
        return tuple(found)


def _how_many(chance: Random, choices: Choices) -> int:
    # The mean of a log-normal lies above its median by exp(sigma² / 2).
    wanted = choices.follows * chance.lognormvariate(-(SPREAD**2) / 2, SPREAD)
    return max(1, min(round(wanted), choices.people - 1, MOST_FOLLOWEES))
