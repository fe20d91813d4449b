"""Archives of strangers: damaged, enormous, or with names that lead elsewhere."""

import struct
import zipfile
from pathlib import Path

import pytest

from tests.imports.archives import write_zip
from tintype.imports import ArchiveFiles, ArchiveInvalid
from tintype.imports.errors import FileUnreadable
from tintype.imports.reasons import LINK
from tintype.imports.text import repair
from tintype.imports.times import read_camera, read_iso, read_name, read_timestamp


def test_a_file_that_expands_beyond_its_limit_is_not_read_on(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "bomb.zip", {"posts.json": b"0" * (64 << 20)})
    assert archive.stat().st_size < 1 << 20

    with ArchiveFiles([archive]) as files, pytest.raises(FileUnreadable, match="larger than 1 MB"):
        files.all[0].read(1 << 20)


def test_a_damaged_file_is_unreadable_and_the_others_are_read(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        packed.writestr("bad", b"damaged content")
        packed.writestr("good", b"fine")
    content = archive.read_bytes()
    archive.write_bytes(content.replace(b"damaged content", b"damaged_content"))

    with ArchiveFiles([archive]) as files:
        bad, good = files.all
        assert good.read(100) == b"fine"
        with pytest.raises(FileUnreadable, match="CRC"):
            bad.read(100)


def test_a_cut_off_download_says_so(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "a.zip", {"a": b"x" * 1000, "b": b"y" * 1000})
    archive.write_bytes(archive.read_bytes()[:-60])

    with pytest.raises(ArchiveInvalid, match="Download it again"):
        ArchiveFiles([archive])


def test_a_list_of_files_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "a.zip", {"a": b"x"})
    content = bytearray(archive.read_bytes())
    struct.pack_into("<L", content, content.rindex(b"PK\x05\x06") + 12, 1 << 30)
    archive.write_bytes(content)

    with pytest.raises(ArchiveInvalid, match="too large"):
        ArchiveFiles([archive])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArchiveInvalid, match=r"nowhere\.zip"):
        ArchiveFiles([tmp_path / "nowhere.zip"])


def test_links_in_a_zip_are_left_out(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(link, "/etc/passwd")

    with ArchiveFiles([archive]) as files:
        assert (files.all, files.left_out) == ([], [("link", LINK)])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("plain", "plain"),
        ("FrÃ¼hling", "Frühling"),
        ("Frühling", "Frühling"),
        ("ð\x9f\x8c·", "🌷"),
        ("日本", "日本"),
        ("", ""),
    ],
)
def test_texts_are_repaired_where_they_are_broken(text: str, meant: str) -> None:
    assert repair(text) == meant


def test_times_are_read_as_they_are_written_and_impossible_ones_are_none() -> None:
    whole = read_iso("2020-01-02T03:04:05Z")
    assert whole is not None
    assert (
        read_timestamp(1577934245) == read_timestamp("1577934245") == read_timestamp(1577934245000) == whole
    )
    assert read_camera("2020:01:02 04:04:05", "+01:00") == whole == read_name("IMG_20200102_030405.jpg")
    for nonsense in (0, None, True, "soon", 10**30, 4102444800, float("nan")):
        assert read_timestamp(nonsense) is None
    assert read_iso("0001-01-01T00:00:00+14:00") is None
    assert read_camera("0000:00:00 00:00:00") is None
