"""A picture between the loader that opened it and the steps that follow."""

from dataclasses import dataclass

from tintype.media.photos.vips import pyvips


@dataclass(frozen=True)
class Opened:
    """A picture that is about to be decoded, as stored, and what came with it."""

    image: pyvips.Image
    """Perhaps shrunk by its decoder."""

    width: int
    height: int
    """In full."""

    orientation: int
    exif: bytes
    assumed_profile: str = "srgb"
