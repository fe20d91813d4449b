"""An image between the loader that opened it and the steps that follow."""

from dataclasses import dataclass

from tintype.media.photos.vips import pyvips


@dataclass(frozen=True)
class SourceImage:
    """An image about to be decoded, as stored, with its metadata."""

    image: pyvips.Image
    """Possibly shrunk by its decoder."""

    width: int
    height: int
    """Of the full image, before any shrinking."""

    orientation: int
    exif: bytes
    assumed_profile: str = "srgb"
