"""Demo: a small invented community, so that a fresh installation has something to look at.

Owns no tables: its people join, follow, post, like, comment and tell stories through the doors of the other rooms,
and their photographs and faces are made here, by recipe.
"""

from tintype.demo.living import Living
from tintype.demo.models import Count, Life, Person, Photo, Summary, all_people
from tintype.demo.pictures import SHAPES, take_picture
from tintype.demo.plan import Plan
from tintype.demo.service import Demo, Progress

__all__ = [
    "SHAPES",
    "Count",
    "Demo",
    "Life",
    "Living",
    "Person",
    "Photo",
    "Plan",
    "Progress",
    "Summary",
    "all_people",
    "take_picture",
]
