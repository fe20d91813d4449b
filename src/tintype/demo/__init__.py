"""Demo: a small community of generated people, so that a fresh installation has something to show.

Owns no tables: its people sign up, follow, post, like, comment and publish stories through the other rooms. Their
photos and portraits are rendered here, from recipes. `DemoOffer` decides who may start it from the web app.
"""

from tintype.demo.errors import DemoNotOffered
from tintype.demo.models import ActivitySummary, Count, Person, Photo, Summary, load_people
from tintype.demo.offer import DemoOffer, DemoStatus, StartDemo, progress_store
from tintype.demo.photos import SHAPES, draw_scene, render_photo
from tintype.demo.plan import Plan
from tintype.demo.service import Demo

__all__ = [
    "SHAPES",
    "ActivitySummary",
    "Count",
    "Demo",
    "DemoNotOffered",
    "DemoOffer",
    "DemoStatus",
    "Person",
    "Photo",
    "Plan",
    "StartDemo",
    "Summary",
    "draw_scene",
    "load_people",
    "progress_store",
    "render_photo",
]
