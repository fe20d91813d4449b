import io
import zipfile
from pathlib import Path

import pytest

from tests.media.photos import recipes
from tintype.media.errors import MediaDisguised, MediaRefused, MediaUnsupported
from tintype.media.photos import Kind, kind_of, read_header, sniff

SMALL = recipes.corners(64, 48)


def ftyp(brand: bytes, *compatible: bytes) -> bytes:
    body = brand + bytes(4) + b"".join(compatible)
    return (8 + len(body)).to_bytes(4, "big") + b"ftyp" + body + b"\0\0\0\x08mdat"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (recipes.encode(SMALL), Kind.JPEG),
        (recipes.encode(SMALL, "PNG"), Kind.PNG),
        (recipes.encode(SMALL, "WEBP"), Kind.WEBP),
        (recipes.heic(SMALL), Kind.HEIC),
        (ftyp(b"isom", b"isom", b"avc1"), Kind.MP4),
        (ftyp(b"qt  ", b"qt  "), Kind.MOV),
    ],
)
def test_a_kind_is_told_by_content_whatever_the_name(tmp_path: Path, content: bytes, kind: Kind) -> None:
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
def test_what_we_do_not_take_is_refused_by_content(tmp_path: Path, content: bytes) -> None:
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
    file.write_bytes(recipes.encode(SMALL) + archive.getvalue())

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
def test_a_photo_that_also_speaks_another_tongue_is_refused(words: bytes) -> None:
    with pytest.raises(MediaDisguised):
        kind_of(recipes.with_segment(recipes.encode(SMALL), 0xFE, words))


def test_a_motion_photo_is_still_a_photo() -> None:
    content = recipes.encode(SMALL) + ftyp(b"mp42") + bytes(range(256)) * 400

    assert read_header(content).width == 64


def test_every_refusal_has_a_code_of_its_own() -> None:
    kinds = MediaRefused.__subclasses__()

    assert len({kind.code for kind in kinds}) == len(kinds)
