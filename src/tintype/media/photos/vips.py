"""Pyvips, restricted: one thread, no cache, and no decoder but those of the formats we accept.

Import pyvips from here, so that nothing runs before it is restricted.
"""

import os
from typing import Any

os.environ.setdefault("VIPS_CONCURRENCY", "1")
os.environ.setdefault("VIPS_DISC_THRESHOLD", "4g")  # our limits are on memory; nothing large goes to disk

import pyvips

# Loaders of all other formats, programs and scripts are blocked by libvips itself, whatever we call.
pyvips.operation_block_set("VipsForeignLoad", state=True)
for loader in ("VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadWebp"):
    pyvips.operation_block_set(loader, state=False)
pyvips.cache_set_max(0)  # a process handles one photo

__all__ = ["find_field", "pop_warnings", "pyvips"]


def find_field(image: pyvips.Image, name: str) -> Any:  # any: libvips' fields are of many kinds
    """A metadata field of an image, if it has one of that name."""
    return image.get(name) if image.get_typeof(name) else None


def pop_warnings() -> str:
    """The warnings that decoders logged since the last call; clears them."""
    core: Any = pyvips  # any: the C interface has no types
    warnings: bytes = core.ffi.string(core.vips_lib.vips_error_buffer())
    core.vips_lib.vips_error_clear()
    return warnings.decode(errors="replace")
