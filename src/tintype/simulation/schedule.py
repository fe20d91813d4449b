"""When people act: they sleep, read their feed at breakfast and at night, and post at noon and in the evening.

The curves give the activity of each hour of the local day relative to the mean hour. With people in many time zones
the total is smoother than each of them, but never flat.
"""

from collections.abc import Sequence
from math import exp
from random import Random

from tintype.simulation.models import MAX_ACTIONS, Action, ActionKind, SimulatedPerson, SimulationOptions

HOURS = 24
READING = (6, 3, 2, 1, 1, 3, 7, 12, 13, 11, 10, 11, 14, 13, 11, 10, 11, 13, 15, 18, 21, 22, 18, 12)
POSTING = (3, 2, 1, 1, 1, 2, 4, 7, 9, 10, 11, 13, 15, 13, 11, 11, 12, 15, 18, 19, 17, 13, 8, 5)
CURVES: dict[ActionKind, tuple[int, ...]] = {"read": READING, "post": POSTING}
SLOT_H = 0.5


def schedule_actions(people: Sequence[SimulatedPerson], choices: SimulationOptions) -> list[Action]:
    """All actions in chronological order; the same for the same options. The day starts at midnight UTC."""
    chance = Random(f"{choices.seed}/day")  # noqa: S311 - reproducible on purpose
    actions: list[Action] = []
    for person in people:
        wanted: dict[ActionKind, float] = {"post": person.habit.posts_a_day, "read": person.habit.reads_a_day}
        for kind, a_day in wanted.items():
            times = _times(chance, kind, a_day, person.zone_h, choices.hours)
            actions += [Action(at_s, person.number, kind) for at_s in times]
    return sorted(actions)[:MAX_ACTIONS]


def activity_level(kind: ActionKind, local_h: float) -> float:
    """Activity of an hour of the local day, relative to the mean hour."""
    curve = CURVES[kind]
    return curve[int(local_h) % HOURS] * HOURS / sum(curve)


def _times(chance: Random, kind: ActionKind, a_day: float, zone_h: float, hours: float) -> list[float]:
    """Simulated seconds at which a person acts: a Poisson process whose rate follows the curve."""
    starts = [slot * SLOT_H for slot in range(round(hours / SLOT_H) or 1)]
    length = min(SLOT_H, hours)
    expected = [a_day / HOURS * length * activity_level(kind, start + zone_h) for start in starts]
    count = _poisson(chance, sum(expected))
    if not count:
        return []
    return [(start + chance.random() * length) * 3_600 for start in chance.choices(starts, expected, k=count)]


def _poisson(chance: Random, mean: float) -> int:
    """Poisson sample by Knuth's algorithm: means are small here, a few dozen unless a simulation lasts for weeks."""
    count = 0
    while mean > 0:
        step = min(mean, 500.0)  # exp(-745) underflows to 0
        left, product = exp(-step), chance.random()
        while product > left:
            count += 1
            product *= chance.random()
        mean -= step
    return count
