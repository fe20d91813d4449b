"""From a recipe to a JPEG: the same recipe and seed give the same picture."""

import io
import zlib

import numpy as np
from PIL import Image

from tintype.demo.light import Sheet
from tintype.demo.scenes import SCENES

SHAPES = {"square": (1080, 1080), "portrait": (1080, 1350), "landscape": (1440, 960)}
QUALITY = 90


def take_picture(scene: str, mood: str, shape: str, *, seed: str) -> bytes:
    """The photograph of a scene, as a camera would hand it over."""
    buffer = io.BytesIO()
    draw(scene, mood, SHAPES[shape], seed=seed).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def draw(scene: str, mood: str, size: tuple[int, int], *, seed: str) -> Image.Image:
    """The scene in any size."""
    sheet = Sheet(*size, np.random.default_rng(zlib.crc32(f"{seed}/{scene}/{mood}".encode())))
    SCENES[scene](sheet, mood)
    return sheet.develop()
