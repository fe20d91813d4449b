"""The sheet that a picture is made on: light is added and painted over, then developed like film.

Planes come first (3 × height × width), so that a mask of the sheet's shape applies to all colours at once.
Colours are squared on the way in and the root is taken at the end: light then mixes as light does, and a root
costs a tenth of an exact gamma curve.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tintype.demo.noise import fit, fractal

Plane: TypeAlias = NDArray[np.float32]
SHOULDER, WHITE = 0.8, 1.2
"""Values above the shoulder are bent, so that a bright sky fades to white instead of being cut off."""


def tone(code: str) -> Plane:
    """The light of a colour like "#ffcc88"."""
    channels = [int(code[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return np.array(channels, np.float32).reshape(3, 1, 1) ** 2


def mix(first: Plane, second: Plane, share: float | Plane) -> Plane:
    """So much of the second, the rest of the first."""
    return first + (second - first) * share


def edge(value: Plane, start: float, end: float) -> Plane:
    """0 below the start, 1 above the end, smooth in between; the other way round when they are swapped."""
    part = np.clip((value - start) / (end - start), 0, 1)
    return part * part * (3 - 2 * part)


class Sheet:
    """A frame of one size with chance of its own; x and y run from 0 to 1, top left to bottom right."""

    def __init__(self, width: int, height: int, rng: np.random.Generator) -> None:
        self.width, self.height, self.rng = width, height, rng
        self.tall = height / width
        self.x: Plane = np.linspace(0, 1, width, dtype=np.float32)[None, :]
        self.y: Plane = np.linspace(0, 1, height, dtype=np.float32)[:, None]
        self.light: Plane = np.zeros((3, height, width), np.float32)

    def fill(self, *codes: str, top: float = 0.0, bottom: float = 1.0) -> None:
        """Cover everything with a gradient through these colours, from `top` to `bottom`."""
        self.light[:] = self.gradient(*codes, top=top, bottom=bottom)

    def gradient(self, *codes: str, top: float = 0.0, bottom: float = 1.0) -> Plane:
        """One column of a gradient through these colours."""
        at = np.linspace(top, bottom, len(codes))
        stops = np.concatenate([tone(code) for code in codes], axis=1)[:, :, 0]
        columns = [np.interp(self.y[:, 0], at, each) for each in stops]
        return np.array(columns, np.float32)[:, :, None]

    def paint(self, colour: Plane, mask: Plane, *, rows: slice = slice(None)) -> None:
        """Cover with a colour where the mask is 1; rows that the mask leaves alone need not be visited."""
        part = self.light[:, rows]
        part += (colour - part) * mask

    def shine(self, colour: Plane, amount: Plane) -> None:
        """Add light."""
        self.light += colour * amount

    def glow(self, colour: Plane, x: float, y: float, radius: float, strength: float = 1.0) -> None:
        """A lamp or a sun behind haze: bright in the middle, with a long tail."""
        near = self.distance(x, y) / radius
        self.shine(colour, strength / (1 + near * near) ** 1.5)

    def disc(self, colour: Plane, x: float, y: float, radius: float, *, blur: float = 0.03) -> Plane:
        """A round body; returns its mask."""
        mask = edge(self.distance(x, y) / radius, 1 + blur, 1 - blur)
        self.paint(colour, mask)
        return mask

    def distance(self, x: float, y: float) -> Plane:
        """How far each point is from one point, in widths of the sheet."""
        return np.hypot(self.x - np.float32(x), (self.y - np.float32(y)) * np.float32(self.tall))

    def noise(self, slope: float, *, stretch: float = 1.0, lowest: float = 1.0) -> Plane:
        """Fractal noise over the whole sheet, mean 0 and deviation 1."""
        texture = fractal(self.rng, (512, 512), slope, stretch=stretch, lowest=lowest)
        return fit(texture, self.width, self.height)

    def develop(self, *, grain: float = 0.018, vignette: float = 0.35, fade: float = 0.02) -> Image.Image:
        """The picture: darker towards the corners, with grain and blacks that are not quite black."""
        corner = np.square(self.x - 0.5) + np.square(self.y - 0.5)
        shown = np.sqrt(np.maximum(self.light * (1 - vignette * corner * 2), 0))
        np.minimum(shown, WHITE, out=shown)
        shown -= np.square(np.maximum(shown - SHOULDER, 0)) / (2 * (WHITE - SHOULDER))
        specks = self.rng.standard_normal((512, 512), np.float32) * grain
        across, down = -(-self.width // 512), -(-self.height // 512)
        shown = fade + (1 - fade) * shown + np.tile(specks, (down, across))[: self.height, : self.width]
        pixels = np.clip(shown * 255, 0, 255).astype(np.uint8)
        return Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
