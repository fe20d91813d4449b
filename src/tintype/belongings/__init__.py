"""Belongings: everything that is a person's, handed out as an archive and let go when they leave.

Owns `exports`, `departures` and `departed`, on the shard of the one who asked. What the other rooms keep they hand out
and erase themselves (`base.belongings`).
"""

from tintype.belongings.errors import ExportNotFound, ExportUnderWay
from tintype.belongings.events import DepartureDue, ExportReady, ExportRequested
from tintype.belongings.exporting import Exports
from tintype.belongings.models import Departure, Export
from tintype.belongings.service import QUERIES, Departures

__all__ = [
    "QUERIES",
    "Departure",
    "DepartureDue",
    "Departures",
    "Export",
    "ExportNotFound",
    "ExportReady",
    "ExportRequested",
    "ExportUnderWay",
    "Exports",
]
