"""Numbers computed from the definitions of the colour spaces, not by the libraries under test."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.photos.conftest import Make
from tintype.media.photos.colour import is_srgb

Floats = NDArray[np.float64]

SRGB = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
P3 = np.array([[0.4866, 0.2657, 0.1982], [0.2290, 0.6917, 0.0793], [0.0, 0.0451, 1.0439]])
ADOBE = np.array([[0.5767, 0.1856, 0.1882], [0.2973, 0.6274, 0.0753], [0.0270, 0.0707, 0.9911]])
ADOBE_D50 = ([0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457])


def linear(values: Floats) -> Floats:
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def to_srgb(light: Floats, primaries: Floats) -> Floats:
    """From linear light of some primaries to sRGB of 8 bits, clipped at the edge of what it can show."""
    values = (np.linalg.inv(SRGB) @ primaries @ light).clip(0, 1)
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055) * 255


def middle(out: Path) -> NDArray[np.float64]:
    pixels = sample_photos.read(out / "1080.jpg")
    return pixels[pixels.shape[0] // 2, pixels.shape[1] // 2].astype(float)


@pytest.mark.parametrize(
    "colour", [(255, 0, 0), (0, 255, 0), (200, 100, 50), (90, 160, 120), (128, 128, 128)]
)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "HEIC"])
def test_display_p3_becomes_srgb(make: Make, out: Path, colour: tuple[int, int, int], kind: str) -> None:
    picture = sample_photos.plain(colour)
    if kind == "HEIC":
        picture.info["icc_profile"] = sample_photos.p3_profile()
        make(sample_photos.heic(picture, quality=100))
    else:
        make(sample_photos.encode(picture, kind, icc_profile=sample_photos.p3_profile(), quality=100))

    expected = to_srgb(linear(np.array(colour) / 255), P3)
    assert np.abs(middle(out) - expected).max() <= (6 if kind in {"WEBP", "HEIC"} else 4)


def test_a_heic_that_names_p3_without_a_profile_becomes_srgb(make: Make, out: Path) -> None:
    make(sample_photos.heic(sample_photos.plain((200, 100, 50)), quality=100, color_primaries=12))

    expected = to_srgb(linear(np.array((200, 100, 50)) / 255), P3)
    assert np.abs(middle(out) - expected).max() <= 6


@pytest.mark.parametrize(
    ("picture", "seen"),
    [
        (sample_photos.plain((77,), "L"), (77, 77, 77)),
        (sample_photos.plain((200, 100, 0, 128), "RGBA"), (227, 177, 127)),
    ],
)
def test_a_heic_may_be_grey_or_transparent(
    make: Make, out: Path, picture: Image.Image, seen: tuple[int, ...]
) -> None:
    make(sample_photos.heic(picture, quality=100))

    assert np.abs(middle(out) - seen).max() <= 6


@pytest.mark.parametrize("colour", [(200, 100, 50), (90, 160, 120), (40, 200, 90)])
def test_adobe_rgb_becomes_srgb(make: Make, out: Path, colour: tuple[int, int, int]) -> None:
    profile = sample_photos.matrix_profile(*ADOBE_D50, gamma=2.19921875)

    make(sample_photos.encode(sample_photos.plain(colour), icc_profile=profile, quality=100))

    expected = to_srgb((np.array(colour) / 255) ** 2.19921875, ADOBE)
    assert np.abs(middle(out) - expected).max() <= 5


def test_srgb_stays_as_it_is(make: Make, out: Path) -> None:
    profile = sample_photos.srgb_profile()

    make(sample_photos.encode(sample_photos.plain((200, 100, 50)), icc_profile=profile, quality=100))

    assert np.abs(middle(out) - (200, 100, 50)).max() <= 2


def test_only_srgb_profiles_are_detected_as_srgb() -> None:
    renamed = sample_photos.p3_profile().replace(b"Display P3", b"sRGB built")

    assert is_srgb(sample_photos.srgb_profile()) is True
    assert is_srgb(sample_photos.p3_profile()) is False
    assert is_srgb(renamed) is False
    assert is_srgb(b"") is False


def test_a_damaged_profile_is_ignored(make: Make, out: Path) -> None:
    make(sample_photos.encode(sample_photos.plain((200, 100, 50)), icc_profile=b"nonsense" * 40, quality=100))

    assert np.abs(middle(out) - (200, 100, 50)).max() <= 3


def test_a_profile_for_another_kind_of_image_is_ignored(make: Make, out: Path) -> None:
    make(
        sample_photos.encode(
            sample_photos.plain((130,), "L"), icc_profile=sample_photos.p3_profile(), quality=100
        )
    )

    assert np.abs(middle(out) - 130).max() <= 2


@pytest.mark.parametrize(
    ("ink", "seen"),
    [((0, 0, 0, 0), (255, 255, 255)), ((0, 255, 255, 0), (230, 10, 25)), ((0, 0, 0, 128), (146, 146, 146))],
)
def test_cmyk_without_a_profile_looks_as_printed(
    make: Make, out: Path, ink: tuple[int, ...], seen: tuple[int, ...]
) -> None:
    make(sample_photos.encode(sample_photos.plain(ink, "CMYK"), quality=100))

    assert np.abs(middle(out) - seen).max() < 25


def test_sixteen_bits_become_eight(make: Make, out: Path) -> None:
    pixels = np.full((400, 400, 3), (51_400, 25_700, 12_850), np.uint16)

    make(sample_photos.sixteen_bits(pixels))

    assert np.abs(middle(out) - (200, 100, 50)).max() <= 2


def test_grey_of_sixteen_bits_becomes_eight(make: Make, out: Path) -> None:
    make(sample_photos.sixteen_bits(np.full((400, 400, 1), 128 * 257, np.uint16)))

    assert np.abs(middle(out) - 128).max() <= 1


def test_grey_has_three_bands(make: Make, out: Path) -> None:
    make(sample_photos.encode(sample_photos.plain((77,), "L"), quality=100))

    with Image.open(out / "1080.jpg") as image:
        assert image.mode == "RGB"
    assert np.abs(middle(out) - 77).max() <= 1


@pytest.mark.parametrize(
    ("picture", "seen"),
    [
        (sample_photos.plain((200, 0, 0, 0), "RGBA"), (255, 255, 255)),
        (sample_photos.plain((200, 100, 0, 128), "RGBA"), (227, 177, 127)),
        (sample_photos.plain((0, 128), "LA"), (127, 127, 127)),
    ],
)
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_transparency_is_flattened_on_white(
    make: Make, out: Path, picture: Image.Image, seen: tuple[int, ...], kind: str
) -> None:
    make(sample_photos.encode(picture, kind, lossless=True))

    assert np.abs(middle(out) - seen).max() <= 3


def test_transparency_of_sixteen_bits_is_flattened_on_white(make: Make, out: Path) -> None:
    pixels = np.zeros((400, 400, 4), np.uint16)
    pixels[:, :200, 3] = 65_535

    make(sample_photos.sixteen_bits(pixels))

    found = sample_photos.read(out / "1080.jpg")
    assert found[200, 50].max() <= 2
    assert found[200, 350].min() >= 253


@pytest.mark.slow
def test_transparent_edges_have_no_dark_rim(make: Make, out: Path) -> None:
    picture = sample_photos.plain((0, 0, 0, 0), "RGBA", 2000, 2000)
    picture.paste((255, 255, 255, 255), (0, 0, 1000, 2000))

    make(sample_photos.encode(picture, "PNG"))

    assert sample_photos.read(out / "320.jpg").min() >= 250


def test_a_palette_with_a_transparent_colour_is_flattened_on_white(make: Make, out: Path) -> None:
    picture = sample_photos.plain((0,), "P")
    picture.putpalette([10, 20, 30] * 256)

    make(sample_photos.encode(picture, "PNG", transparency=0))

    assert middle(out).min() >= 253
