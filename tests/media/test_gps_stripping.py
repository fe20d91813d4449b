"""Taking the place out of files, however they are made or broken."""

import io
import tempfile
from pathlib import Path
from typing import Any

import pillow_heif
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.media.test_upload import photo_with_place
from tintype.media.uploads.gps_stripping import strip_gps

SENT = photo_with_place()


def place_in(content: bytes) -> dict[Any, Any]:
    return dict(Image.open(io.BytesIO(content)).getexif().get_ifd(0x8825))


def test_a_heic_keeps_its_pixels_and_loses_its_gps_data(tmp_path: Path) -> None:
    source = Image.open(io.BytesIO(SENT))
    file = tmp_path / "a.heic"
    heif: Any = pillow_heif  # it ships without types
    heif.from_pillow(source).save(file, exif=source.info["exif"])
    pixels = bytes(heif.open_heif(file).data)

    is_clear = strip_gps(file)

    after = heif.open_heif(file)
    exif = Image.Exif()
    exif.load(after.info["exif"])
    assert is_clear
    assert bytes(after.data) == pixels
    assert dict(exif.get_ifd(0x8825)) == {}


def test_a_webp_loses_its_gps_data(tmp_path: Path) -> None:
    source = Image.open(io.BytesIO(SENT))
    file = tmp_path / "a.webp"
    source.save(file, exif=source.info["exif"])
    before = place_in(file.read_bytes())

    is_clear = strip_gps(file)

    assert before
    assert is_clear
    assert place_in(file.read_bytes()) == {}


@settings(max_examples=200, deadline=None)
@given(at=st.integers(0, 600), byte=st.integers(0, 255), cut=st.integers(1, len(SENT)))
def test_a_damaged_exif_block_is_stripped_or_rejected_and_never_a_crash(at: int, byte: int, cut: int) -> None:
    damaged = bytearray(SENT[:cut])
    damaged[min(at, cut - 1)] = byte
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.jpg"
        file.write_bytes(damaged)

        strip_gps(file)

        assert file.stat().st_size == cut
