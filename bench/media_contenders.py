"""The ways to make eight sizes of a photo that `bench media` compares, each from a file to files in a folder.

All write JPEGs of the same quality and subsampling, in the same sizes.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PIL import Image

from tintype.media.photos.models import SIZES
from tintype.media.photos.pipeline import QUALITY, make_photo
from tintype.media.photos.vips import pyvips

Contender = Callable[[Path, Path], object]
Named = tuple[str, Image.Image]
NAMES = ("ours", "floor", "Pillow draft and pyramid", "a thumbnail for each")


def floor(scaled: list[Named]) -> Contender:
    """The least that any way must do: one shrunk decode and eight encodes, of pictures that were scaled before.

    Both by Pillow, which hands the work to libjpeg-turbo and adds next to nothing.
    """

    def make(source: Path, out: Path) -> None:
        with Image.open(source) as image:
            _shrink_while_decoding(image)
            image.load()
        for name, picture in scaled:
            picture.save(out / name, "JPEG", quality=QUALITY)

    return make


def pillow_pyramid(source: Path, out: Path) -> None:
    """Pillow as its manual advises: draft mode, then each size from the one above."""
    for name, picture in pillow_sizes(source):
        picture.save(out / name, "JPEG", quality=QUALITY)


def pillow_sizes(source: Path) -> Iterator[Named]:
    """Yield every size, scaled by Pillow."""
    with Image.open(source) as image:
        _shrink_while_decoding(image)
        base = _to_width(image.convert("RGB"), SIZES[0])
    yield from _pyramid(base, "")
    side = min(base.size)
    left, top = (base.width - side) // 2, (base.height - side) // 2
    yield from _pyramid(base.crop((left, top, left + side, top + side)), "s")


def thumbnail_each(source: Path, out: Path) -> None:
    """Libvips' thumbnail for every size: each decodes the photo again, shrunk as far as that size allows."""
    content = source.read_bytes()
    with Image.open(io.BytesIO(content)) as image:
        side = min(SIZES[0], SIZES[0] * image.height // image.width)
    for size in SIZES:
        whole = pyvips.Image.thumbnail_buffer(content, size, height=10 * size)
        square = pyvips.Image.thumbnail_buffer(
            content, min(size, side), height=min(size, side), crop="centre"
        )
        for name, picture in ((f"{size}.jpg", whole), (f"{size}s.jpg", square)):
            (out / name).write_bytes(picture.jpegsave_buffer(Q=QUALITY, keep=0))


def contenders(source: Path, names: Iterable[str] = NAMES) -> dict[str, Contender]:
    """Return the contenders of those names."""
    ways: dict[str, Contender] = {
        "ours": make_photo,
        "Pillow draft and pyramid": pillow_pyramid,
        "a thumbnail for each": thumbnail_each,
    }
    return {name: ways[name] if name in ways else floor(list(pillow_sizes(source))) for name in names}


def _shrink_while_decoding(image: Image.Image) -> None:
    image.draft("RGB", (SIZES[0] * 4 // 3, SIZES[0] * 4 // 3 * image.height // image.width))


def _pyramid(image: Image.Image, suffix: str) -> Iterator[Named]:
    for size in SIZES:
        image = _to_width(image, size)
        yield f"{size}{suffix}.jpg", image


def _to_width(image: Image.Image, width: int) -> Image.Image:
    if image.width <= width:
        return image
    height = max(1, round(image.height * width / image.width))
    return image.resize((width, height), Image.Resampling.LANCZOS)
