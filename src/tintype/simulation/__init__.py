"""An invented population that posts and reads, so that an operator can see what a threshold costs.

Owns no tables: it fills an installation of its own, lives a day in it through the rooms, and leaves nothing behind.
"""

from tintype.simulation.advice import advise
from tintype.simulation.comparing import ENTRIES, STAGES, Ground, Progress, Simulation, Site
from tintype.simulation.days import how_busy
from tintype.simulation.drawing import draw, sketch
from tintype.simulation.models import (
    MOST_PEOPLE,
    NEVER,
    Act,
    Choices,
    Outcome,
    Person,
    Report,
    Spread,
    name_of,
    spread_of,
)
from tintype.simulation.plan import Plan, make_plan
from tintype.simulation.population import count_followers, invent_people
from tintype.simulation.settling import Settler

__all__ = [
    "ENTRIES",
    "MOST_PEOPLE",
    "NEVER",
    "STAGES",
    "Act",
    "Choices",
    "Ground",
    "Outcome",
    "Person",
    "Plan",
    "Progress",
    "Report",
    "Settler",
    "Simulation",
    "Site",
    "Spread",
    "advise",
    "count_followers",
    "draw",
    "how_busy",
    "invent_people",
    "make_plan",
    "name_of",
    "sketch",
    "spread_of",
]
