"""Looks: our photo filters, and the edits (crop, rotation, sliders) that people make to a photo.

An `Edit` is a small value; `apply` applies it to an image. Each look is a recipe (`recipes/`) and the 3D lookup table
built from it (`strips/`). The recipes and their strips are original work under the licence of this repository.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tintype.media.looks.catalog import find_strip, list_looks
from tintype.media.looks.errors import CropRefused, LookNotFound
from tintype.media.looks.models import Crop, Edit, Look

if TYPE_CHECKING:
    from tintype.media.looks.apply_edit import apply, tint
    from tintype.media.looks.geometry import cut
    from tintype.media.looks.lut_strips import load_strips, write_strips

__all__ = [
    "Crop",
    "CropRefused",
    "Edit",
    "Look",
    "LookNotFound",
    "apply",
    "cut",
    "find_strip",
    "list_looks",
    "load_strips",
    "tint",
    "write_strips",
]

_LAZY = {
    "apply": "apply_edit",
    "tint": "apply_edit",
    "cut": "geometry",
    "load_strips": "lut_strips",
    "write_strips": "lut_strips",
}
"""Loads vips, Pillow and numpy, which only sandbox jobs need; a web process lists looks and parses edits."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
