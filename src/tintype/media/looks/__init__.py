"""Looks: what people do to a photo before others see it.

An `Edit` is a small value; `apply` carries it out on a picture. Each look is a recipe (`recipes/`) and the table cooked
from it (`strips/`). The recipes and the strips made from them are original work under the licence of this repository.
"""

from tintype.media.looks.apply import apply, tint
from tintype.media.looks.errors import CropRefused
from tintype.media.looks.geometry import cut
from tintype.media.looks.models import Crop, Edit, Look
from tintype.media.looks.tables import cook_strips, find_strip, list_looks

__all__ = [
    "Crop",
    "CropRefused",
    "Edit",
    "Look",
    "apply",
    "cook_strips",
    "cut",
    "find_strip",
    "list_looks",
    "tint",
]
