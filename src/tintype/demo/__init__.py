"""Demo: a small invented community, so that a fresh installation has something to look at.

Owns no tables: its people join, follow, post and like through the doors of the other rooms, and their photographs
are made here, by recipe.
"""

from tintype.demo.models import Count, Person, Photo, Summary, all_people
from tintype.demo.pictures import SHAPES, take_picture
from tintype.demo.plan import Plan
from tintype.demo.service import Demo, Progress

__all__ = [
    "SHAPES",
    "Count",
    "Demo",
    "Person",
    "Photo",
    "Plan",
    "Progress",
    "Summary",
    "all_people",
    "take_picture",
]
