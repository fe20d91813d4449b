import base64
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.media.photos import sample_photos
from tests.media.photos.conftest import Make
from tintype.media.photos.placeholder import thumbhash


def draw(code: bytes, width: int, height: int) -> NDArray[np.float64]:
    """What a browser draws from a thumbhash: the decoder of its authors, without transparency."""
    first, second = int.from_bytes(code[:3], "little"), int.from_bytes(code[3:5], "little")
    is_landscape = bool(second >> 15)
    across = max(3, 7 if is_landscape else second & 7)
    down = max(3, second & 7 if is_landscape else 7)
    nibbles = [half for byte in code[5:] for half in (byte & 15, byte >> 4)]
    channels: list[NDArray[np.float64]] = []
    for mean, scale, (nx, ny) in (
        ((first & 63) / 63, (first >> 18 & 31) / 31, (across, down)),
        ((first >> 6 & 63) / 31.5 - 1, (second >> 3 & 63) / 63 * 1.25, (3, 3)),
        ((first >> 12 & 63) / 31.5 - 1, (second >> 9 & 63) / 63 * 1.25, (3, 3)),
    ):
        found = np.full((height, width), mean)
        for y in range(ny):
            for x in range(nx):
                if (x or y) and x * ny < nx * (ny - y):
                    wave = (nibbles.pop(0) / 7.5 - 1) * scale
                    down_wave = np.cos(np.pi / height * (np.arange(height) + 0.5) * y)[:, None]
                    across_wave = np.cos(np.pi / width * (np.arange(width) + 0.5) * x)[None, :]
                    found = found + 2 * wave * down_wave * across_wave
        channels.append(found)
    light, yellow, pink = channels
    blue = light - 2 / 3 * yellow
    red = (3 * light - blue + pink) / 2
    return np.stack([red, red - pink, blue], -1).clip(0, 1) * 255


@pytest.mark.parametrize(("width", "height"), [(480, 360), (360, 480), (400, 400), (1000, 110), (110, 1000)])
def test_the_placeholder_draws_the_photo_blurred(make: Make, width: int, height: int) -> None:
    photo = make(sample_photos.encode(sample_photos.corners(width, height), quality=95))

    code = base64.b64decode(photo.placeholder)
    drawn = draw(code, 40, 40)
    assert len(code) <= 25
    for name, (down, across) in {
        "top left": (8, 8),
        "top right": (8, 32),
        "bottom left": (32, 8),
        "bottom right": (32, 32),
    }.items():
        nearest = min(
            sample_photos.CORNERS,
            key=lambda corner: float(np.abs(drawn[down, across] - sample_photos.CORNERS[corner]).sum()),
        )
        assert nearest == name


def test_an_image_of_one_colour_has_a_placeholder_of_that_colour(make: Make, out: Path) -> None:
    photo = make(sample_photos.encode(sample_photos.plain((200, 100, 50)), quality=95))

    assert np.abs(draw(base64.b64decode(photo.placeholder), 8, 8) - (200, 100, 50)).max() < 12


def test_a_placeholder_equals_the_reference_encoders() -> None:
    # Their reference encoder, loop by loop, for the same picture.
    pixels = np.asarray(sample_photos.landscape(40, 30))

    assert thumbhash(pixels) == reference(pixels)


def reference(pixels: NDArray[np.uint8]) -> bytes:
    height, width = int(pixels.shape[0]), int(pixels.shape[1])
    values: list[list[list[float]]] = (pixels / 255).tolist()

    def channel(make: list[float], nx: int, ny: int) -> tuple[float, list[float], float]:
        mean: float = 0.0
        scale: float = 0.0
        waves: list[float] = []
        for cy in range(ny):
            cx = 0
            while cx * ny < nx * (ny - cy):
                total: float = 0.0
                for y in range(height):
                    fy = math.cos(math.pi / height * cy * (y + 0.5))
                    for x in range(width):
                        total += make[x + y * width] * math.cos(math.pi / width * cx * (x + 0.5)) * fy
                total /= width * height
                if cx or cy:
                    waves.append(total)
                    scale = max(scale, abs(total))
                else:
                    mean = total
                cx += 1
        return mean, [0.5 + 0.5 / scale * wave for wave in waves], scale

    def nearest(value: float) -> int:
        return math.floor(value + 0.5)

    flat = [pixel for row in values for pixel in row]
    lx, ly = 7, nearest(7 * height / width)
    l_dc, l_ac, l_scale = channel([sum(p) / 3 for p in flat], max(3, lx), max(3, ly))
    p_dc, p_ac, p_scale = channel([(p[0] + p[1]) / 2 - p[2] for p in flat], 3, 3)
    q_dc, q_ac, q_scale = channel([p[0] - p[1] for p in flat], 3, 3)
    first = nearest(63 * l_dc) | nearest(31.5 + 31.5 * p_dc) << 6 | nearest(31.5 + 31.5 * q_dc) << 12
    first |= nearest(31 * l_scale) << 18
    second = ly | nearest(63 * p_scale) << 3 | nearest(63 * q_scale) << 9 | 1 << 15
    code = bytearray(first.to_bytes(3, "little") + second.to_bytes(2, "little"))
    for number, wave in enumerate([*l_ac, *p_ac, *q_ac]):
        if number % 2 == 0:
            code.append(0)
        code[-1] |= nearest(15 * wave) << (number % 2 * 4)
    return bytes(code)
