from pathlib import Path

import pytest
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.photos.conftest import Make
from tintype.media.photos.convert import convert

XMP = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><exif:GPSLatitude>33,51.5S</exif:GPSLatitude></x:xmpmeta>"
THUMBNAIL = sample_photos.encode(
    sample_photos.plain((9, 9, 9), width=64, height=64), comment=b"the uncropped thumbnail"
)
SECRETS = [
    b"Exif", b"GPS", b"xmpmeta", b"Photoshop", b"SERIAL-4711", b"Tintype Camera", b"thumbnail", b"ICC_PROFILE",
    b"a comment", b"MPF\0", b"behind the end",
]  # fmt: skip


def telltale() -> bytes:
    """A photo with everything in it that must not come out."""
    picture = sample_photos.landscape(800, 600)
    content = sample_photos.encode(
        picture,
        exif=sample_photos.exif_with_place(),
        icc_profile=sample_photos.p3_profile(),
        comment=b"a comment",
    )
    content = sample_photos.with_segment(content, 0xE1, XMP)
    content = sample_photos.with_segment(content, 0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0" + THUMBNAIL)
    return content + b"behind the end" + THUMBNAIL


@pytest.mark.slow
def test_no_metadata_is_written(make: Make, out: Path) -> None:
    content = telltale()
    assert all(secret in content for secret in SECRETS if secret != b"MPF\0")

    make(content)
    convert(out / "1080.jpg", out / "1080.webp", "webp")
    convert(out / "1080.jpg", out / "1080.avif", "avif")

    for file in out.iterdir():
        found = [secret for secret in SECRETS if secret in file.read_bytes()]
        # An AVIF file has a box named Exif only when there is any.
        assert found == [], file.name
        with Image.open(file) as image:
            assert dict(image.getexif()) == {}
            assert not {"xmp", "icc_profile", "comment"} & set(image.info)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_no_metadata_is_written_for_other_formats_either(make: Make, out: Path, kind: str) -> None:
    photo = make(sample_photos.encode(sample_photos.corners(), kind, exif=sample_photos.exif_with_place()))

    assert photo.gps["latitude"] == pytest.approx(-33.858333, abs=1e-5)
    for file in out.iterdir():
        assert [secret for secret in SECRETS if secret in file.read_bytes()] == []


def test_the_owner_gets_the_exif_with_the_location_separate(make: Make) -> None:
    photo = make(telltale())

    assert photo.exif["Make"] == "Tintype Camera"
    assert photo.exif["DateTimeOriginal"] == "2026:05:01 12:00:00"
    assert photo.exif["ExposureTime"] == pytest.approx(0.004)
    assert not [name for name in photo.exif if "GPS" in name or "Serial" in name]
    assert photo.gps == {
        "latitude": pytest.approx(-33.858333, abs=1e-5),
        "longitude": pytest.approx(151.21, abs=1e-5),
    }


def test_a_heic_keeps_its_exif_for_the_owner(make: Make, out: Path) -> None:
    photo = make(sample_photos.heic(sample_photos.corners(), exif=sample_photos.exif_with_place()))

    assert photo.exif["Model"] == "No. 1"
    assert photo.gps["longitude"] == pytest.approx(151.21, abs=1e-5)
    assert b"Exif" not in (out / "1080.jpg").read_bytes()
