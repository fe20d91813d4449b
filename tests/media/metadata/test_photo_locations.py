"""The copy of an original keeps the picture and loses the place, wherever in the file it was written."""

import io
from typing import Any

import numpy as np
import pillow_heif
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import ExifTags, Image

from tests.media.metadata.located_photos import (
    HEICS,
    JPEGS,
    LOCATED,
    PICTURE,
    PNGS,
    UPRIGHT,
    WEBPS,
    WITHOUT_COORDINATES,
    exif,
    is_named,
)
from tests.media.metadata.sample_heif import ExtraItem, HeifParts, make_heif
from tests.media.photos import sample_photos
from tests.media.photos.test_fuzz import edits, mutate
from tintype.media.errors import MediaRefused
from tintype.media.metadata.clean_photo import CleanPhoto, clean_photo
from tintype.media.photos import detect_format, read_header


def clean(content: bytes) -> CleanPhoto:
    return clean_photo(content, read_header(content).kind)


def pixels(content: bytes) -> Any:
    if content[4:8] == b"ftyp":
        return np.asarray(pillow_heif.open_heif(io.BytesIO(content)))
    return np.asarray(Image.open(io.BytesIO(content)))


@pytest.mark.parametrize("name", LOCATED)
def test_a_photo_keeps_its_pixels_and_loses_its_location(name: str) -> None:
    content = LOCATED[name]

    cleaned = clean(content)

    assert is_named(content)
    assert cleaned.copy is not None, cleaned.reason
    assert not is_named(cleaned.copy)
    assert (pixels(cleaned.copy) == pixels(content)).all()
    assert ("location" in cleaned.removed) is (name not in WITHOUT_COORDINATES)
    assert cleaned.removed


@pytest.mark.parametrize("name", LOCATED)
def test_a_copy_has_nothing_more_to_remove(name: str) -> None:
    first = clean(LOCATED[name]).copy
    assert first is not None

    again = clean(first)

    assert (again.copy, again.removed) == (first, [])


@pytest.mark.parametrize(
    "content",
    [
        sample_photos.encode(PICTURE),
        sample_photos.encode(PICTURE, progressive=True),
        sample_photos.encode(PICTURE, "PNG"),
        sample_photos.encode(PICTURE, "WEBP"),
        sample_photos.heic(PICTURE),
    ],
    ids=["jpeg", "progressive", "png", "webp", "heic"],
)
def test_a_photo_without_metadata_is_kept_as_it_is(content: bytes) -> None:
    cleaned = clean(content)

    assert (cleaned.copy, cleaned.removed) == (content, [])


@pytest.mark.parametrize(
    "content", [JPEGS["Exif"], PNGS["an eXIf chunk"], WEBPS["Exif"], HEICS["Exif without a prefix"]]
)
def test_what_the_camera_was_set_to_stays(content: bytes) -> None:
    copy = clean(content).copy
    assert copy is not None

    kept = Image.Exif()
    if copy[4:8] == b"ftyp":
        opened: Any = pillow_heif.open_heif(io.BytesIO(copy))  # any: it ships with partial types
        kept.load(opened.info["exif"])
    else:
        kept = Image.open(io.BytesIO(copy)).getexif()
    assert kept[ExifTags.Base.Make] == "Tintype Works"
    assert kept.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.FNumber] == pytest.approx(2.8)
    assert ExifTags.Base.ImageDescription not in kept
    assert dict(kept.get_ifd(ExifTags.IFD.GPSInfo)) == {}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_photo_stays_upright(kind: str) -> None:
    stored = sample_photos.stored(6, UPRIGHT)
    content = sample_photos.encode(stored, kind, exif=b"Exif\0\0" + exif(orientation=6))

    copy = clean(content).copy

    assert copy is not None
    assert Image.open(io.BytesIO(copy)).getexif()[ExifTags.Base.Orientation] == 6


def test_colours_stay() -> None:
    content = sample_photos.encode(PICTURE, icc_profile=sample_photos.p3_profile(), xmp=b"<x/>")

    copy = clean(content).copy

    assert copy is not None
    assert Image.open(io.BytesIO(copy)).info["icc_profile"] == sample_photos.p3_profile()


def _moved(content: bytes, *, into_picture: bool) -> bytes:
    """The same HEIC whose Exif item is said to lie within the picture, or within the list of items."""
    at = content.index(b"iloc") + 12 + 16 + 8
    offset = content.index(b"mdat") + 4 if into_picture else content.index(b"hdlr")
    return content[:at] + offset.to_bytes(4, "big") + content[at + 4 :]


@pytest.mark.parametrize("into_picture", [True, False])
def test_what_cannot_be_separated_from_the_picture_is_not_kept(into_picture: bool) -> None:
    content = _moved(HEICS["Exif without a prefix"], into_picture=into_picture)

    cleaned = clean(content)

    assert cleaned.copy is None
    assert "original" in cleaned.removed


def test_a_copy_that_still_has_a_position_is_not_kept() -> None:
    """Within a coded image no structure is known; the search of the whole file finds it."""
    base = sample_photos.heic(PICTURE)
    content = make_heif(HeifParts([ExtraItem(b"hvc1", b"Exif\0\0" + exif())]), base)

    cleaned = clean(content)

    assert cleaned.copy is None
    assert cleaned.removed == ["location", "original"]
    assert cleaned.reason


@pytest.mark.parametrize("name", [*LOCATED])
def test_a_cut_off_photo_is_copied_without_its_location_or_not_at_all(name: str) -> None:
    content = LOCATED[name]
    for end in range(20, len(content), max(1, len(content) // 40)):
        check_never_named(content[:end])


@pytest.mark.slow
@given(name=st.sampled_from(sorted(LOCATED)), changes=edits)
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_photo_is_copied_without_its_location_or_not_at_all(
    name: str, changes: list[tuple[int, str, bytes]]
) -> None:
    check_never_named(mutate(LOCATED[name], changes))


def check_never_named(content: bytes) -> None:
    try:
        kind = detect_format(content[:4096], content)
    except MediaRefused:
        return
    if not kind.is_photo:
        return
    copy = clean_photo(content, kind).copy
    if copy is not None and is_named(content):
        assert not is_named(copy)
