"""Load simulation: a generated population that posts and reads, to compare push thresholds of the home feed.

Owns no tables: it fills a throw-away installation, runs a day of actions through the rooms' front doors, and leaves
nothing behind.
"""

from tintype.simulation.bulk_fill import BulkFill
from tintype.simulation.charts import render_svg, render_text
from tintype.simulation.comparison import (
    ENTRIES,
    STAGES,
    Installation,
    InstallationFactory,
    ReportProgress,
    Simulation,
)
from tintype.simulation.models import (
    MAX_PEOPLE,
    NEVER,
    Action,
    Distribution,
    SimulatedPerson,
    SimulationOptions,
    SimulationReport,
    ThresholdOutcome,
    distribution_of,
    name_of,
)
from tintype.simulation.plan import DayPlan, make_plan
from tintype.simulation.population import count_followers, generate_people
from tintype.simulation.recommendation import recommendation_text
from tintype.simulation.schedule import activity_level

__all__ = [
    "ENTRIES",
    "MAX_PEOPLE",
    "NEVER",
    "STAGES",
    "Action",
    "BulkFill",
    "DayPlan",
    "Distribution",
    "Installation",
    "InstallationFactory",
    "ReportProgress",
    "SimulatedPerson",
    "Simulation",
    "SimulationOptions",
    "SimulationReport",
    "ThresholdOutcome",
    "activity_level",
    "count_followers",
    "distribution_of",
    "generate_people",
    "make_plan",
    "name_of",
    "recommendation_text",
    "render_svg",
    "render_text",
]
