"""Applies an edit to an image: crop first, then one colour LUT, then vignette and grain.

Pillow applies the LUT: 32 ms for 1080 by 1350 on one core, against 155 ms for vips' mapim on the strip and 410 ms for
numpy. Its LUT holds 16-bit numbers, 64 steps to one of the image's.
"""

import numpy as np
import pyvips
from PIL import Image, ImageFilter

from tintype.media.looks.finish import amounts, finish
from tintype.media.looks.fold import changes_colour, fold
from tintype.media.looks.geometry import cut
from tintype.media.looks.models import Edit
from tintype.media.looks.recipe import SIZE


def apply(image: pyvips.Image, edit: Edit) -> pyvips.Image:
    """The edited image: sRGB, three bytes a pixel like the input; smaller where it was cropped."""
    return tint(cut(image, edit), edit)


def tint(image: pyvips.Image, edit: Edit) -> pyvips.Image:
    """The image with every part of an edit but its geometry."""
    vignette, grain = amounts(edit)
    needs_lut = changes_colour(edit)
    if not (needs_lut or vignette or grain):
        return image
    width, height = int(image.width), int(image.height)
    picture = Image.frombuffer("RGB", (width, height), image.write_to_memory(), "raw", "RGB", 0, 1)
    if needs_lut:
        picture = picture.filter(_filter(edit))
    if not (vignette or grain):
        return _wrap(picture.tobytes(), width, height)
    return _wrap(finish(np.asarray(picture), vignette, grain).tobytes(), width, height)


def _filter(edit: Edit) -> ImageFilter.Color3DLUT:
    return ImageFilter.Color3DLUT(SIZE, fold(edit).ravel(), _copy_table=False)


def _wrap(content: bytes, width: int, height: int) -> pyvips.Image:
    return pyvips.Image.new_from_memory(content, width, height, 3, "uchar").copy(interpretation="srgb")
