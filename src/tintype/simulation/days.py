"""When they do it: people sleep, look at their feed at breakfast and at night, and post at noon and in the evening.

The curves give how busy an hour of the local day is beside the mean hour. With people in many time zones the whole
is smoother than each of them, but never flat.
"""

from collections.abc import Sequence
from math import exp
from random import Random

from tintype.simulation.models import MOST_DEEDS, Act, Choices, Deed, Person

HOURS = 24
READING = (6, 3, 2, 1, 1, 3, 7, 12, 13, 11, 10, 11, 14, 13, 11, 10, 11, 13, 15, 18, 21, 22, 18, 12)
POSTING = (3, 2, 1, 1, 1, 2, 4, 7, 9, 10, 11, 13, 15, 13, 11, 11, 12, 15, 18, 19, 17, 13, 8, 5)
CURVES: dict[Deed, tuple[int, ...]] = {"read": READING, "post": POSTING}
SLOT_H = 0.5


def plan_day(people: Sequence[Person], choices: Choices) -> list[Act]:
    """Everything that will happen, in order; the same for the same choices. It begins at midnight UTC."""
    chance = Random(f"{choices.seed}/day")  # noqa: S311 - the same every time, on purpose
    acts: list[Act] = []
    for person in people:
        wanted: dict[Deed, float] = {"post": person.habit.posts_a_day, "read": person.habit.reads_a_day}
        for deed, a_day in wanted.items():
            times = _times(chance, deed, a_day, person.zone_h, choices.hours)
            acts += [Act(at_s, person.number, deed) for at_s in times]
    return sorted(acts)[:MOST_DEEDS]


def how_busy(deed: Deed, local_h: float) -> float:
    """An hour of the local day beside the mean hour of that day."""
    curve = CURVES[deed]
    return curve[int(local_h) % HOURS] * HOURS / sum(curve)


def _times(chance: Random, deed: Deed, a_day: float, zone_h: float, hours: float) -> list[float]:
    """The simulated seconds at which somebody does something: a Poisson process that follows the curve."""
    starts = [slot * SLOT_H for slot in range(round(hours / SLOT_H) or 1)]
    length = min(SLOT_H, hours)
    expected = [a_day / HOURS * length * how_busy(deed, start + zone_h) for start in starts]
    count = _poisson(chance, sum(expected))
    if not count:
        return []
    return [(start + chance.random() * length) * 3_600 for start in chance.choices(starts, expected, k=count)]


def _poisson(chance: Random, mean: float) -> int:
    """Knuth's way: means are small here, a few dozen at most unless a simulation lasts for weeks."""
    count = 0
    while mean > 0:
        step = min(mean, 500.0)  # exp(-745) is nought
        left, product = exp(-step), chance.random()
        while product > left:
            count += 1
            product *= chance.random()
        mean -= step
    return count
