"""What strangers send, through the sandbox as in life: each fails with its code, and the next photo is made."""

import random
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.photos.sample_photos import names, put
from tintype.media.errors import MediaRefused
from tintype.media.photos import make_photo_in_sandbox


@cache
def small() -> Image.Image:
    return sample_photos.landscape(600, 450)


@cache
def jpeg() -> bytes:
    return sample_photos.encode(small(), quality=90)


@cache
def png() -> bytes:
    return sample_photos.encode(small(), "PNG")


@cache
def webp() -> bytes:
    return sample_photos.encode(small(), "WEBP")


@cache
def heic() -> bytes:
    return sample_photos.heic(small())


def stirred(content: bytes, start: int, seed: int = 1) -> bytes:
    """The same file with a hundred bytes changed behind its header."""
    chance, changed = random.Random(seed), bytearray(content)  # noqa: S311 - damage, not secrets
    for _ in range(100):
        changed[chance.randrange(start, len(content))] = chance.randrange(256)
    return bytes(changed)


BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "a PNG of 30,000 pixels a side": (lambda: sample_photos.png(30_000, 30_000), "media_dimensions_refused"),
    "a JPEG of 65,500 pixels a side": (
        lambda: sample_photos.with_jpeg_size(jpeg(), 65_500, 65_500),
        "media_dimensions_refused",
    ),
    "20,000 by 10": (lambda: sample_photos.png(20_000, 10), "media_dimensions_refused"),
    "a scan bomb": (sample_photos.scan_bomb, "media_bomb"),
    "a profile bomb": (
        lambda: sample_photos.png(
            8, 8, sample_photos.chunk(b"iCCP", b"x\0\0" + sample_photos.packed_zeros(50)), rows=bytes(72)
        ),
        "media_bomb",
    ),
    "a text bomb": (
        lambda: sample_photos.png(
            8, 8, sample_photos.chunk(b"zTXt", b"x\0\0" + sample_photos.packed_zeros(50)), rows=bytes(72)
        ),
        "media_bomb",
    ),
    "a PNG with fewer rows than it says": (
        lambda: sample_photos.png(1000, 1000, rows=bytes(1001 * 3)),
        "media_damaged",
    ),
    "a JPEG taller than it is": (lambda: sample_photos.with_jpeg_size(jpeg(), 600, 4000), "media_damaged"),
    "a HEIC that is larger than it says": (
        lambda: heic().replace(b"ispe\0\0\0\0", b"ispe\0\0\0\0" + struct.pack(">II", 64, 64), 1)[
            : len(heic())
        ],
        "media_damaged",
    ),
    "a JPEG cut short": (lambda: jpeg()[: len(jpeg()) * 6 // 10], "media_damaged"),
    "a PNG cut short": (lambda: png()[: len(png()) * 6 // 10], "media_damaged"),
    "a WebP cut short": (lambda: webp()[: len(webp()) * 6 // 10], "media_damaged"),
    "a HEIC cut short": (lambda: heic()[: len(heic()) * 6 // 10], "media_damaged"),
    "a PNG with changed bytes": (lambda: stirred(png(), 200), "media_damaged"),
    "an animation": (
        lambda: sample_photos.encode(
            small(),
            "WEBP",
            save_all=True,
            append_images=[sample_photos.plain((1, 2, 3), width=600, height=450)],
        ),
        "media_animated",
    ),
    "a page in a comment": (
        lambda: sample_photos.with_segment(jpeg(), 0xFE, b"<html><script>alert(1)"),
        "media_disguised",
    ),
    "an SVG": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "media_unsupported"),
    "a script for ImageMagick": (
        lambda: b"push graphic-context\nimage over 0,0 0,0 'x'",
        "media_unsupported",
    ),
    "a playlist": (lambda: b"#EXTM3U\nfile:///etc/passwd\n", "media_unsupported"),
    "a GIF": (lambda: b"GIF89a" + bytes(100), "media_unsupported"),
    "nothing": (lambda: b"", "media_unsupported"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.slow
async def test_a_bad_file_is_refused_with_its_code(source: Path, out: Path, name: str) -> None:
    make, code = BAD[name]
    put(source, make())

    with pytest.raises(MediaRefused) as refused:
        await make_photo_in_sandbox(source, out)

    assert refused.value.code == code
    assert names(out) == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [jpeg, webp, heic])
@pytest.mark.slow
async def test_changed_bytes_make_a_photo_or_a_refusal(
    source: Path, out: Path, make: Callable[[], bytes], seed: int
) -> None:
    put(source, stirred(make(), 700, seed))

    try:
        photo = await make_photo_in_sandbox(source, out)
    except MediaRefused:
        assert names(out) == []
    else:
        assert (photo.width, photo.height) == (600, 450)


@pytest.mark.slow
async def test_a_good_photo_is_processed_after_bad_ones(source: Path, out: Path) -> None:
    for content in (b"", sample_photos.scan_bomb(scans=300), jpeg()[:900]):
        put(source, content)
        with pytest.raises(MediaRefused):
            await make_photo_in_sandbox(source, out)

    put(source, jpeg())
    assert (await make_photo_in_sandbox(source, out)).width == 600


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        ("JPEG", "RGB", {"progressive": True}),
        ("JPEG", "CMYK", {"progressive": True}),
        ("WEBP", "RGBA", {"method": 0}),
    ],
)
async def test_the_largest_photos_we_accept_fit_into_the_sandbox(
    source: Path, out: Path, kind: str, mode: str, options: dict[str, Any]
) -> None:
    picture = sample_photos.plain((90, 120, 60, 40)[: len(mode)], mode, 9_200, 6_900)
    put(source, sample_photos.encode(picture, kind, **options))

    assert (await make_photo_in_sandbox(source, out)).width == 1080
