"""Pyvips as we allow it: one thread, no cache, and no decoder but those of the formats we take.

Import pyvips from here, so that nothing runs before the doors are shut.
"""

import os
from typing import Any

os.environ.setdefault("VIPS_CONCURRENCY", "1")
os.environ.setdefault("VIPS_DISC_THRESHOLD", "4g")  # our limits are on memory; nothing large goes to disk

import pyvips

# Programs, scripts and formats nobody sends us: refused by libvips itself, whatever name we call.
pyvips.operation_block_set("VipsForeignLoad", state=True)
for loader in ("VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"):
    pyvips.operation_block_set(loader, state=False)
pyvips.cache_set_max(0)  # a process makes one photo

__all__ = ["find_field", "pyvips", "take_complaints"]


def find_field(image: pyvips.Image, name: str) -> Any:  # any: libvips' fields are of many kinds
    """Return what came with a picture under a name, if anything did."""
    return image.get(name) if image.get_typeof(name) else None


def take_complaints() -> str:
    """Return what decoders complained about without failing, and forget it."""
    core: Any = pyvips  # any: the C interface has no types
    complaints: bytes = core.ffi.string(core.vips_lib.vips_error_buffer())
    core.vips_lib.vips_error_clear()
    return complaints.decode(errors="replace")
