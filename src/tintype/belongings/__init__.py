"""Belongings: everything that is a person's, handed out as an archive and let go when they leave.

Owns exports and departures, on the shard of the one who asked. What the other rooms keep they hand out themselves.
"""

from tintype.belongings.service import QUERIES, Departures

__all__ = ["QUERIES", "Departures"]
