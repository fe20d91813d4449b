"""Generates people and a follow graph: a few are followed by many, most by few, and a quarter never returns.

The probability of being followed falls with a person's popularity rank as rank^-0.8: the power law that follower
counts of real sites show. The number of people one follows is log-normally distributed.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from random import Random

from tintype.simulation.models import Habit, SimulatedPerson, SimulationOptions

POPULARITY_EXPONENT = 0.8
FOLLOWEES_SIGMA = 0.7
"""Standard deviation of the logarithm of how many people one follows."""
MAX_FOLLOWEES = 7_000
HABITS = (
    Habit("away", 0.25, 0.0, 0.0),
    Habit("casual", 0.45, 0.05, 2.0),
    Habit("regular", 0.22, 0.4, 8.0),
    Habit("devoted", 0.08, 2.0, 25.0),
)
POPULAR_SHARE = 0.01
"""Share of the most followed people, who all post a lot: inactive celebrities would not exercise the threshold."""
ZONES = ((-8.0, 2), (-5.0, 3), (-3.0, 2), (0.0, 2), (1.0, 4), (3.0, 2), (5.5, 4), (8.0, 4), (9.0, 2))


def generate_people(choices: SimulationOptions) -> list[SimulatedPerson]:
    """Generate people; the same options give the same people."""
    chance = Random(f"{choices.seed}/people")  # noqa: S311 - reproducible on purpose
    order = list(range(choices.people))
    chance.shuffle(order)
    sampler = PopularitySampler(order)
    popular = set(order[: max(1, round(choices.people * POPULAR_SHARE))])
    shares, (hours, weights) = [habit.share for habit in HABITS], zip(*ZONES, strict=True)
    return [
        SimulatedPerson(
            number,
            HABITS[-1] if number in popular else chance.choices(HABITS, shares)[0],
            chance.choices(hours, weights)[0],
            sampler.sample(chance, _followee_count(chance, choices), number),
        )
        for number in range(choices.people)
    ]


def count_followers(people: Sequence[SimulatedPerson]) -> Counter[int]:
    """Follower counts by person."""
    return Counter(followee for person in people for followee in person.followees)


class PopularitySampler:
    """Samples people, the popular ones more often."""

    def __init__(self, order: Sequence[int]) -> None:
        self._order = order
        self._summed = list(accumulate((rank + 1) ** -POPULARITY_EXPONENT for rank in range(len(order))))

    def sample(self, chance: Random, count: int, excluded: int) -> tuple[int, ...]:
        """Return up to `count` different people other than `excluded`; fewer when the same ones keep coming up."""
        found: dict[int, None] = {}
        for _ in range(count * 8):
            if len(found) == count:
                break
            drawn = self._order[bisect(self._summed, chance.random() * self._summed[-1])]
            if drawn != excluded:
                found[drawn] = None
        return tuple(found)


def _followee_count(chance: Random, choices: SimulationOptions) -> int:
    # The mean of a log-normal lies above its median by exp(sigma² / 2).
    wanted = choices.follows * chance.lognormvariate(-(FOLLOWEES_SIGMA**2) / 2, FOLLOWEES_SIGMA)
    return max(1, min(round(wanted), choices.people - 1, MAX_FOLLOWEES))
