import io
import zipfile
from pathlib import Path

import pytest

from tests.media.photos import sample_photos
from tintype.media.errors import MediaDisguised, MediaRefused, MediaUnsupported
from tintype.media.photos import FileFormat, detect_format, read_header, sniff

SMALL = sample_photos.corners(64, 48)


def ftyp(brand: bytes, *compatible: bytes) -> bytes:
    body = brand + bytes(4) + b"".join(compatible)
    return (8 + len(body)).to_bytes(4, "big") + b"ftyp" + body + b"\0\0\0\x08mdat"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (sample_photos.encode(SMALL), FileFormat.JPEG),
        (sample_photos.encode(SMALL, "PNG"), FileFormat.PNG),
        (sample_photos.encode(SMALL, "WEBP"), FileFormat.WEBP),
        (sample_photos.heic(SMALL), FileFormat.HEIC),
        (ftyp(b"isom", b"isom", b"avc1"), FileFormat.MP4),
        (ftyp(b"qt  ", b"qt  "), FileFormat.MOV),
    ],
)
def test_a_format_is_detected_by_content_whatever_the_name(
    tmp_path: Path, content: bytes, kind: FileFormat
) -> None:
    file = tmp_path / "holiday.txt"
    file.write_bytes(content)

    assert sniff(file) is kind


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"<svg xmlns='http://www.w3.org/2000/svg'><image href='/etc/passwd'/></svg>",
        b"<?xml version='1.0'?><svg/>",
        b"push graphic-context\nviewbox 0 0 640 480\nimage over 0,0 0,0 'https://example.org/x'\n",
        b"#EXTM3U\n#EXT-X-TARGETDURATION:1\nfile:///etc/passwd\n",
        b"%PDF-1.7\n",
        b"GIF89a" + bytes(64),
        b"GIF89a/*<script>alert(1)</script>*/=1;",
        b"BM" + bytes(64),
        b"II*\0" + bytes(64),
        b"\0\0\0\x0cJXL \r\n\x87\n",
        b"8BPS" + bytes(64),
        b"PK\x03\x04" + bytes(64),
        ftyp(b"avif", b"mif1"),
        ftyp(b"mif1", b"avif"),
        ftyp(b"xxxx"),
    ],
)
def test_unsupported_formats_are_refused_by_content(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "photo.jpg"
    file.write_bytes(content)

    with pytest.raises(MediaUnsupported):
        sniff(file)


def test_a_video_is_no_photo() -> None:
    with pytest.raises(MediaUnsupported):
        read_header(ftyp(b"isom"))


def test_a_photo_with_a_zip_at_its_end_is_refused(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as written:
        written.writestr("evil.class", "x" * 1000)
        written.comment = b"a comment behind which the record hides"
    file = tmp_path / "photo.jpg"
    file.write_bytes(sample_photos.encode(SMALL) + archive.getvalue())

    with pytest.raises(MediaDisguised):
        sniff(file)
    with pytest.raises(MediaDisguised):
        read_header(file.read_bytes())


@pytest.mark.parametrize(
    "words",
    [
        b"<html><script>alert(1)</script>",
        b"<?php system($_GET['c']); ?>",
        b"%PDF-1.4",
        b"#EXTM3U\n",
        b"<SVG>",
    ],
)
def test_a_polyglot_photo_is_refused(words: bytes) -> None:
    with pytest.raises(MediaDisguised):
        detect_format(sample_photos.with_segment(sample_photos.encode(SMALL), 0xFE, words))


def test_a_motion_photo_is_still_a_photo() -> None:
    content = sample_photos.encode(SMALL) + ftyp(b"mp42") + bytes(range(256)) * 400

    assert read_header(content).width == 64


def test_every_refusal_has_its_own_code() -> None:
    kinds = MediaRefused.__subclasses__()

    assert len({kind.code for kind in kinds}) == len(kinds)
