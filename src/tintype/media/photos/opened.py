"""A picture between the loader that opened it and the steps that follow."""

from dataclasses import dataclass

from tintype.media.photos.vips import pyvips


@dataclass(frozen=True)
class Opened:
    """A picture that is about to be decoded, as stored, and what came with it."""

    image: pyvips.Image
    orientation: int
    exif: bytes
    shrink: int = 1
    assumed_profile: str = "srgb"
