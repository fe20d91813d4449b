"""Looks: what people do to a photo before others see it.

An `Edit` is a small value; `apply` carries it out on a picture. Each look is a recipe (`recipes/`) and the table cooked
from it (`strips/`). The recipes and the strips made from them are original work under the licence of this repository.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tintype.media.looks.errors import CropRefused, LookNotFound
from tintype.media.looks.listing import find_strip, list_looks
from tintype.media.looks.models import Crop, Edit, Look

if TYPE_CHECKING:
    from tintype.media.looks.applying import apply, tint
    from tintype.media.looks.geometry import cut
    from tintype.media.looks.tables import cook_strips

__all__ = [
    "Crop",
    "CropRefused",
    "Edit",
    "Look",
    "LookNotFound",
    "apply",
    "cook_strips",
    "cut",
    "find_strip",
    "list_looks",
    "tint",
]

_WHEN_ASKED = {"apply": "applying", "tint": "applying", "cut": "geometry", "cook_strips": "tables"}
"""What loads vips, Pillow and numpy: only jobs do; a web process lists looks and reads edits."""


def __getattr__(name: str) -> Any:
    if name not in _WHEN_ASKED:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_WHEN_ASKED[name]}"), name)
