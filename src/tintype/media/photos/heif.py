"""Opens HEIC with pillow-heif: the libvips wheel reads such a header, but has no decoder for the image."""

import io
from typing import Any, cast

import numpy as np
import pillow_heif

from tintype.media.errors import MediaDamaged
from tintype.media.photos.source_image import SourceImage
from tintype.media.photos.vips import pyvips

P3_PRIMARIES = 12

pillow_heif.options.DECODE_THREADS = 1
pillow_heif.options.THUMBNAILS = False
pillow_heif.options.DEPTH_IMAGES = False
pillow_heif.options.AUX_IMAGES = False


def open_heif(content: bytes) -> SourceImage:
    """Decode the primary image into memory, eight bits a channel."""
    try:
        primary = pillow_heif.open_heif(io.BytesIO(content))
        pixels = np.ascontiguousarray(np.asarray(primary))
    except MemoryError:
        raise
    except Exception as error:  # its parsers raise many kinds, even IndexError
        raise MediaDamaged(error=str(error)[:500]) from error
    info = cast("dict[str, Any]", primary.info)  # any: metadata of many kinds
    image = pyvips.Image.new_from_array(pixels)
    image = image.copy(interpretation="srgb" if image.bands >= 3 else "b-w")  # noqa: PLR2004 - numbers of the format's own layout
    if profile := info.get("icc_profile"):
        image.set_type(pyvips.GValue.blob_type, "icc-profile-data", profile)
    colours: dict[str, Any] = info.get("nclx_profile") or {}
    assumed = "p3" if colours.get("color_primaries") == P3_PRIMARIES else "srgb"
    # libheif has applied the orientation already; the EXIF states it a second time.
    return SourceImage(image, image.width, image.height, 1, info.get("exif") or b"", assumed_profile=assumed)
