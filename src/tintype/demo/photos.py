"""Renders scenes to JPEGs: the same scene and seed give the same photo."""

import io
import zlib

import numpy as np
from PIL import Image

from tintype.demo.canvas import Canvas
from tintype.demo.scenes import SCENES

SHAPES = {"square": (1080, 1080), "portrait": (1080, 1350), "landscape": (1440, 960)}
QUALITY = 90


def render_photo(scene: str, mood: str, shape: str, *, seed: str) -> bytes:
    """A JPEG of a scene."""
    buffer = io.BytesIO()
    draw_scene(scene, mood, SHAPES[shape], seed=seed).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def draw_scene(scene: str, mood: str, size: tuple[int, int], *, seed: str) -> Image.Image:
    """A scene in any size."""
    canvas = Canvas(*size, np.random.default_rng(zlib.crc32(f"{seed}/{scene}/{mood}".encode())))
    SCENES[scene](canvas, mood)
    return canvas.render()
