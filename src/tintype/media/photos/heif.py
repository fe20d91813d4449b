"""Opens HEIC by pillow-heif: the libvips wheel reads such a header and then has no decoder for the picture."""

import io
from typing import Any, cast

import numpy as np
import pillow_heif

from tintype.media.errors import MediaDamaged
from tintype.media.photos.opened import Opened
from tintype.media.photos.vips import pyvips

P3_PRIMARIES = 12

pillow_heif.options.DECODE_THREADS = 1
pillow_heif.options.THUMBNAILS = False
pillow_heif.options.DEPTH_IMAGES = False
pillow_heif.options.AUX_IMAGES = False


def open_heif(content: bytes) -> Opened:
    """Decode the primary picture into memory, eight bits a channel."""
    try:
        primary = pillow_heif.open_heif(io.BytesIO(content))
        pixels = np.ascontiguousarray(np.asarray(primary))
    except MemoryError:
        raise
    except Exception as error:  # it throws whatever its parsers stumble over, an IndexError at times
        raise MediaDamaged(error=str(error)[:500]) from error
    info = cast("dict[str, Any]", primary.info)  # any: what the container says, of many kinds
    image = pyvips.Image.new_from_array(pixels)
    image = image.copy(interpretation="srgb" if image.bands >= 3 else "b-w")  # noqa: PLR2004
    if profile := info.get("icc_profile"):
        image.set_type(pyvips.GValue.blob_type, "icc-profile-data", profile)
    colours: dict[str, Any] = info.get("nclx_profile") or {}
    assumed = "p3" if colours.get("color_primaries") == P3_PRIMARIES else "srgb"
    # libheif has turned the picture upright already; the EXIF says so a second time.
    return Opened(image, image.width, image.height, 1, info.get("exif") or b"", assumed_profile=assumed)
