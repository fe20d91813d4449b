from pathlib import Path

import numpy as np
import pillow_heif
import pytest

from tests.media.photos import sample_photos
from tests.media.photos.conftest import Make
from tintype.media.errors import MediaDimensionsRefused
from tintype.media.looks import Crop, Edit
from tintype.media.photos import FileFormat
from tintype.media.photos.models import LARGE_SIZES, MAX_LARGE_HEIGHT, large_renditions
from tintype.media.photos.pipeline import make_large_photo, make_photo

NAMES = ["1080.jpg", "640.jpg", "320.jpg", "150.jpg", "1080s.jpg", "640s.jpg", "320s.jpg", "150s.jpg"]


def sizes(out: Path) -> dict[str, tuple[int, int]]:
    return {file.name: sample_photos.read(file).shape[1::-1] for file in out.iterdir()}


@pytest.mark.parametrize(
    ("width", "height", "largest", "square"),
    [
        (4032, 3024, (1080, 810), 810),
        (3024, 4032, (1080, 1440), 1080),
        (1080, 1080, (1080, 1080), 1080),
        (1081, 900, (1080, 899), 899),
        (2879, 1919, (1080, 720), 720),
        (2881, 1921, (1080, 720), 720),
        (500, 700, (500, 700), 500),
        (320, 200, (320, 200), 200),
        (100, 60, (320, 192), 192),
        (1, 1, (320, 320), 320),
        (16_384, 1_700, (1080, 112), 112),
        (150, 1_500, (320, 3_200), 320),
    ],
)
@pytest.mark.slow
def test_every_size_exists_within_our_widths(
    make: Make, out: Path, width: int, height: int, largest: tuple[int, int], square: int
) -> None:
    photo = make(sample_photos.encode(sample_photos.plain((120, 130, 140), width=width, height=height)))

    found = sizes(out)
    assert (photo.width, photo.height) == found["1080.jpg"] == largest
    assert [file.name for file in photo.files] == NAMES
    assert {file.name: (file.width, file.height) for file in photo.files} == found
    for size in (1080, 640, 320, 150):
        assert found[f"{size}.jpg"][0] == min(size, largest[0])
        assert found[f"{size}s.jpg"] == (min(size, square), min(size, square))
    assert all(file.size_bytes == (out / file.name).stat().st_size for file in photo.files)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_photo_survives_the_pipeline(make: Make, out: Path, kind: str) -> None:
    picture = sample_photos.landscape(1600, 1200)

    photo = make(sample_photos.encode(picture, kind, quality=95))

    expected = np.asarray(picture.resize((1080, 810), resample=1)).astype(float)
    difference = np.abs(sample_photos.read(out / "1080.jpg") - expected)
    assert photo.kind is FileFormat(kind.lower())
    assert difference.mean() < 3


@pytest.mark.slow
def test_a_heic_survives_the_pipeline(make: Make, out: Path) -> None:
    picture = sample_photos.landscape(800, 600)

    photo = make(sample_photos.heic(picture, quality=90))

    difference = np.abs(sample_photos.read(out / "1080.jpg") - np.asarray(picture).astype(float))
    assert (photo.kind, photo.width, photo.height) == (FileFormat.HEIC, 800, 600)
    assert difference.mean() < 4


@pytest.mark.slow
def test_a_heic_of_tiles_as_phones_write_it_survives(
    make: Make, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pillow_heif.options, "GRID_TILE_SIZE", 512)
    content = sample_photos.heic(
        sample_photos.stored(6, sample_photos.corners(1400, 1100)),
        exif=sample_photos.orientation_block(6),
        quality=80,
    )
    assert b"grid" in content

    photo = make(content)

    assert (photo.width, photo.height) == (1080, 849)
    _check_corners(sample_photos.read(out / "1080.jpg"))


@pytest.mark.slow
def test_a_shrunk_decode_is_as_sharp_as_a_full_one(make: Make, out: Path) -> None:
    picture = sample_photos.landscape(2900, 2175)

    make(sample_photos.encode(picture, quality=95))

    ours = sample_photos.read(out / "1080.jpg").astype(float)
    full = np.asarray(picture.resize((1080, 810), resample=1)).astype(float)
    assert np.diff(ours, axis=1).std() > 0.85 * np.diff(full, axis=1).std()


def test_a_square_is_the_centre(make: Make, out: Path) -> None:
    picture = sample_photos.plain((250, 250, 250), width=1200, height=600)
    picture.paste((10, 10, 10), (300, 0, 900, 600))

    make(sample_photos.encode(picture))

    assert sample_photos.read(out / "640s.jpg").mean() < 20


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(("width", "height"), [(480, 360), (3400, 2600)])
@pytest.mark.slow
@pytest.mark.slow
def test_a_photo_is_upright_however_the_camera_was_held(
    make: Make, out: Path, orientation: int, width: int, height: int
) -> None:
    photo = make(sample_photos.held(orientation, sample_photos.corners(width, height)))

    assert photo.width > photo.height
    _check_corners(sample_photos.read(out / "1080.jpg"))
    _check_corners(sample_photos.read(out / "150s.jpg"))


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_other_formats_are_upright_too(make: Make, out: Path, orientation: int, kind: str) -> None:
    exif = sample_photos.orientation_block(orientation)

    make(sample_photos.encode(sample_photos.stored(orientation, sample_photos.corners()), kind, exif=exif))

    _check_corners(sample_photos.read(out / "1080.jpg"))


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_a_heic_is_rotated_once_and_not_twice(make: Make, out: Path, orientation: int) -> None:
    content = sample_photos.heic(
        sample_photos.stored(orientation, sample_photos.corners()),
        exif=sample_photos.orientation_block(orientation),
        quality=90,
    )

    photo = make(content)

    assert (photo.width, photo.height) == (480, 360)
    _check_corners(sample_photos.read(out / "1080.jpg"))


def test_an_invalid_orientation_is_ignored(make: Make, out: Path) -> None:
    make(sample_photos.encode(sample_photos.corners(), exif=sample_photos.orientation_block(77)))

    _check_corners(sample_photos.read(out / "1080.jpg"))


def test_twenty_thousand_by_ten_is_refused(make: Make) -> None:
    with pytest.raises(MediaDimensionsRefused):
        make(sample_photos.encode(sample_photos.plain((1, 2, 3), width=20_000, height=10)))


def _check_corners(pixels: np.ndarray) -> None:  # pyright: ignore[reportMissingTypeArgument, reportUnknownParameterType] - any array
    height, width = pixels.shape[:2]
    places = {
        "top left": (0.2, 0.2),
        "top right": (0.2, 0.8),
        "bottom left": (0.8, 0.2),
        "bottom right": (0.8, 0.8),
    }
    for name, (down, across) in places.items():
        found = pixels[int(down * height), int(across * width)].astype(int)
        assert np.abs(found - sample_photos.CORNERS[name]).max() < 12, name


@pytest.mark.parametrize(
    ("edit", "largest"),
    [
        (Edit(crop=Crop(width=0.5)), (1080, 1620)),
        (Edit(crop=Crop(x=0.25, y=0.25, width=0.25, height=0.25)), (1008, 756)),
        (Edit(crop=Crop(width=0.5, height=0.5), turns=1), (1080, 1440)),
        (Edit(straighten=5), None),
    ],
)
@pytest.mark.slow
def test_a_crop_is_cut_from_the_large_image(
    source: Path, out: Path, edit: Edit, largest: tuple[int, int] | None
) -> None:
    source.write_bytes(sample_photos.encode(sample_photos.plain((120, 130, 140), width=4032, height=3024)))

    photo = make_photo(source, out, edit)

    assert photo.width == 1080 if largest is None else (photo.width, photo.height) == largest


@pytest.mark.parametrize(
    ("width", "height", "edit", "large"),
    [
        (4032, 3024, None, (2048, 1536)),
        (3024, 4032, None, (2048, 2731)),
        (1500, 9000, None, (682, 4092)),
        (1700, 1700, None, (1700, 1700)),
        (4032, 3024, Edit(crop=Crop(width=0.4, height=0.4)), (1613, 1210)),
        (4032, 3024, Edit(turns=1), (2048, 2731)),
        (2400, 1800, Edit(turns=3, crop=Crop(width=0.9)), (1620, 2400)),
        (4032, 3024, Edit(straighten=20, look="night-tram"), (2048, 1536)),
    ],
)
@pytest.mark.slow
def test_the_large_width_is_what_can_be_made(
    source: Path, out: Path, width: int, height: int, edit: Edit | None, large: tuple[int, int]
) -> None:
    source.write_bytes(sample_photos.encode(sample_photos.plain((120, 130, 140), width=width, height=height)))

    photo = make_photo(source, out, edit)
    made = make_large_photo(source, out / "large.jpg", photo.large_width, edit)

    assert photo.large_width == large[0]
    assert sizes(out)["large.jpg"] == (made.width, made.height)
    assert abs(made.width - large[0]) <= 1
    assert abs(made.height - large[1]) <= 1
    assert made.height <= MAX_LARGE_HEIGHT


@pytest.mark.parametrize(
    ("large_width", "expected"),
    [
        (None, {}),
        (320, {}),
        (1080, {}),
        (1081, {1440: 1081}),
        (1440, {1440: 1440}),
        (1441, {1440: 1440, 2048: 1441}),
        (2048, {1440: 1440, 2048: 2048}),
    ],
)
def test_large_sizes_are_listed_once_and_never_enlarged(
    large_width: int | None, expected: dict[int, int]
) -> None:
    assert large_renditions(large_width) == expected
    assert set(expected) <= set(LARGE_SIZES)


@pytest.mark.slow
def test_a_large_size_is_as_sharp_as_a_full_decode(source: Path, out: Path) -> None:
    picture = sample_photos.landscape(2900, 2175)
    source.write_bytes(sample_photos.encode(picture, quality=95))

    make_large_photo(source, out / "large.jpg", 2048)
    sample_photos.put(
        out / "full.jpg", sample_photos.encode(picture.resize((2048, 1536), resample=1), quality=82)
    )

    ours, full = [sample_photos.read(out / name).astype(float) for name in ("large.jpg", "full.jpg")]
    assert np.diff(ours, axis=1).std() > 0.85 * np.diff(full, axis=1).std()
