"""Avatars of the demo people: a drawn bust in soft light, random but determined by the name."""

import io
import zlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SIZE = 640
SUPERSAMPLING = 2
"""Drawn this much larger and scaled down, for smooth edges."""
BACKGROUNDS = (
    (172, 160, 143),
    (128, 140, 147),
    (168, 138, 124),
    (146, 143, 116),
    (120, 124, 138),
    (176, 150, 152),
)
COATS = ((58, 52, 50), (44, 58, 66), (92, 52, 52), (66, 70, 48), (72, 60, 84), (40, 40, 44))
SKINS = ((226, 190, 160), (198, 150, 116), (160, 112, 82), (120, 80, 58), (236, 206, 180), (92, 62, 48))
HAIR = ((32, 26, 24), (66, 44, 30), (120, 84, 48), (168, 140, 100), (84, 80, 78), (110, 48, 32))


def render_portrait(name: str) -> bytes:
    """A JPEG of a portrait; always the same for the same name."""
    buffer = io.BytesIO()
    _draw(np.random.default_rng(zlib.crc32(name.encode()))).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def _draw(rng: np.random.Generator) -> Image.Image:
    side = SIZE * SUPERSAMPLING
    image = Image.new("RGB", (side, side), _pick(rng, BACKGROUNDS))
    pen = ImageDraw.Draw(image)
    middle, width = side * (0.5 + rng.uniform(-0.02, 0.02)), side * rng.uniform(0.145, 0.17)
    top = side * rng.uniform(0.25, 0.3)
    skin, hair, coat = _pick(rng, SKINS), _pick(rng, HAIR), _pick(rng, COATS)
    chin = top + width * 2.6
    if rng.random() < 0.5:  # noqa: PLR2004 - long hair falls behind the shoulders
        pen.rounded_rectangle(
            (middle - width * 1.3, top - width * 0.3, middle + width * 1.3, chin + width * 1.1),
            width * 1.1,
            hair,
        )
    pen.rectangle(
        (middle - width * 0.42, chin - width * 0.7, middle + width * 0.42, chin + width * 0.6), skin
    )
    pen.ellipse((middle - width * 2.7, chin + width * 0.15, middle + width * 2.7, side * 1.5), coat)
    pen.pieslice(
        (middle - width * 0.75, chin - width * 0.35, middle + width * 0.75, chin + width * 0.95), 0, 180, skin
    )
    pen.ellipse((middle - width, top, middle + width, chin), skin)
    pen.pieslice(
        (middle - width * 1.12, top - width * 0.32, middle + width * 1.12, top + width * 2.1), 180, 360, hair
    )
    return _finish(image.resize((SIZE, SIZE), Image.Resampling.LANCZOS), rng)


def _finish(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Add light from the upper left, a vignette and film grain."""
    pixels = np.asarray(image.filter(ImageFilter.GaussianBlur(1.6)), np.float64)
    down, across = np.mgrid[0:SIZE, 0:SIZE] / SIZE - 0.5
    light = 1.12 - 0.5 * ((across + 0.16) ** 2 + (down + 0.2) ** 2) * 2.4
    grain = rng.normal(0, 5.0, (SIZE, SIZE))
    shown = np.clip(pixels * light[..., None] + grain[..., None], 0, 255)
    return Image.fromarray(shown.astype(np.uint8))


def _pick(rng: np.random.Generator, choices: tuple[tuple[int, int, int], ...]) -> tuple[int, int, int]:
    return choices[int(rng.integers(len(choices)))]
