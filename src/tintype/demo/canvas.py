"""The canvas that a scene is drawn on: light is added and painted over, then rendered to an image like film.

Planes come first (3, height, width), so that a mask of the canvas's shape applies to all colours at once.
Colours are squared on the way in and the root is taken at the end, so that light mixes linearly; a square root costs a
tenth of an exact gamma curve.
"""

from copy import copy

import numpy as np
from PIL import Image

from tintype.demo.noise import Plane, fractal, resize_texture

SHOULDER, WHITE = 0.8, 1.2
"""Values above the shoulder are bent, so that a bright sky fades to white instead of being cut off."""


def linear_color(code: str) -> Plane:
    """The linear light of a colour like "#ffcc88"."""
    channels = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return np.array(channels, np.float32).reshape(3, 1, 1) ** 2


def mix(first: Plane, second: Plane, share: float | Plane) -> Plane:
    """Linear interpolation: `share` of the second, the rest of the first."""
    return first + (second - first) * share


def smoothstep(value: Plane, start: float | Plane, end: float | Plane) -> Plane:
    """0 below the start, 1 above the end, smooth in between; the other way round when they are swapped."""
    part = (value - start) * (1 / (end - start))
    np.clip(part, 0, 1, out=part)
    return part * part * (3 - 2 * part)


class Canvas:
    """A frame with its own random generator; x and y run from 0 to 1, top left to bottom right."""

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.width, self.height, self.rng = width, height, rng
        self.aspect_ratio = height / width
        self.x: Plane = np.linspace(0, 1, width, dtype=np.float32)[None, :]
        self.y: Plane = np.linspace(0, 1, height, dtype=np.float32)[:, None]
        self.light: Plane = np.zeros((3, height, width), np.float32)

    def near_point(self, x: float, y: float, reach: float) -> "Canvas":
        """A view of the canvas around a point, for drawing small things fast."""
        rows = _span(y, reach / self.aspect_ratio, self.height)
        columns = _span(x, reach, self.width)
        part = copy(self)
        part.x, part.y, part.light = self.x[:, columns], self.y[rows], self.light[:, rows, columns]
        part.height, part.width = part.light.shape[1:]
        return part

    def fill(self, *codes: str, top: float = 0.0, bottom: float = 1.0) -> None:
        """Cover everything with a gradient through these colours, from `top` to `bottom`."""
        self.light[:] = self.gradient(*codes, top=top, bottom=bottom)

    def gradient(self, *codes: str, top: float = 0.0, bottom: float = 1.0) -> Plane:
        """One column of a gradient through these colours."""
        at = np.linspace(top, bottom, len(codes))
        stops = np.concatenate([linear_color(code) for code in codes], axis=1)[:, :, 0]
        columns: list[Plane] = [np.interp(self.y[:, 0], at, each) for each in stops]
        return np.array(columns, np.float32)[:, :, None]

    def paint(self, colour: Plane, mask: Plane, *, rows: slice = slice(None)) -> None:
        """Cover with a colour where the mask is 1; rows that the mask leaves alone need not be visited."""
        part = self.light[:, rows]
        change = colour - part
        change *= mask
        part += change

    def add_light(self, colour: Plane, amount: Plane) -> None:
        """Brighten the picture by a colour, as much as `amount` says for each pixel."""
        self.light += colour * amount

    def glow(self, colour: Plane, x: float, y: float, radius: float, strength: float = 1.0) -> None:
        """A lamp or a sun behind haze: bright in the middle, with a long tail."""
        near = np.square(self.distance(x, y) / np.float32(radius)) + 1
        self.add_light(colour, np.float32(strength) / (near * np.sqrt(near)))

    def disc(self, colour: Plane, x: float, y: float, radius: float, *, blur: float = 0.03) -> None:
        """A filled circle with a soft edge."""
        self.paint(colour, smoothstep(self.distance(x, y) / radius, 1 + blur, 1 - blur))

    def distance(self, x: float, y: float) -> Plane:
        """How far each point is from one point, in widths of the canvas."""
        return np.sqrt(
            np.square(self.x - np.float32(x)) + np.square((self.y - np.float32(y)) * self.aspect_ratio)
        )

    def noise(self, slope: float, *, stretch: float = 1.0, lowest: float = 1.0) -> Plane:
        """Fractal noise over the whole canvas, mean 0 and deviation 1."""
        texture = fractal(self.rng, (512, 512), slope, stretch=stretch, lowest=lowest)
        return resize_texture(texture, self.width, self.height)

    def render(self, *, grain: float = 0.018, vignette: float = 0.35, fade: float = 0.02) -> Image.Image:
        """The finished image: with vignette, film grain and faded blacks."""
        corner = np.square(self.x - 0.5) + np.square(self.y - 0.5)
        shown = self.light * (1 - vignette * 2 * corner)
        np.clip(shown, 0, WHITE * WHITE, out=shown)
        np.sqrt(shown, out=shown)
        bright = np.maximum(shown - SHOULDER, 0)
        bright *= bright
        bright *= 1 / (2 * (WHITE - SHOULDER))
        shown -= bright
        specks = self.rng.standard_normal((512, 512), np.float32) * grain + fade
        across, down = -(-self.width // 512), -(-self.height // 512)
        shown *= 1 - fade
        shown += np.tile(specks, (down, across))[: self.height, : self.width]
        shown *= 255
        np.clip(shown, 0, 255, out=shown)
        return Image.merge("RGB", [Image.fromarray(plane) for plane in shown.astype(np.uint8)])


def _span(middle: float, reach: float, size: int) -> slice:
    first, last = int((middle - reach) * size), int((middle + reach) * size) + 1
    return slice(min(max(first, 0), size - 1), min(max(last, 1), size))
