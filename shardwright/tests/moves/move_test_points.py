"""The points at which moves are interrupted, made from the list of journalled steps: a new one is among them."""

import os
from dataclasses import dataclass
from typing import Literal

from shardwright.moves import Step
from shardwright.moves.models import ENDED, FINISHING, MOVING, UNDOABLE

ALL = bool(os.environ.get("SHARDWRIGHT_ALL_FAULTS"))
"""Whether every point is tried, or a few telling ones."""

Action = Literal["start", "back", "keep", "finish", "abort"]


@dataclass(frozen=True)
class Point:
    """A moment of a step: when it begins, or when it has had its effect and the next one is not journalled yet."""

    action: Action
    step: Step
    phase: Literal["begin", "effect"] = "begin"

    def __str__(self) -> str:
        return f"{self.action}-{self.step}-{self.phase}"


def steps_of(action: Action) -> tuple[Step, ...]:
    """The steps that an action goes through."""
    return {
        "start": MOVING,
        "back": MOVING[MOVING.index(Step.CATCH_UP) :],
        "keep": (Step.KEEP,),
        "finish": FINISHING,
        "abort": (Step.ABORT,),
    }[action]


ACTIONS: tuple[Action, ...] = ("start", "back", "keep", "finish", "abort")
POINTS = [
    Point(action, step, phase)
    for action in ACTIONS
    for step in steps_of(action)
    for phase in ("begin", "effect")
]
STEPS = [Point(action, step) for action in ACTIONS for step in steps_of(action)]
ABORTABLE = [point for point in POINTS if point.step in UNDOABLE]
RESTING = ENDED
"""Steps in which nothing is done any more."""
