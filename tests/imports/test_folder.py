"""Folders of photos with sidecars."""

from datetime import UTC, datetime
from pathlib import Path

from tests.imports.archives import at, picture, write_folder
from tintype.imports import ArchiveContents, ArchiveFiles, read_folder

XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF>
<rdf:Description photoshop:DateCreated="2015-06-07T08:09:10+02:00">
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">Salt &amp; sun</rdf:li></rdf:Alt></dc:description>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def read(path: Path) -> ArchiveContents:
    with ArchiveFiles([path]) as files:
        return read_folder(files)


def test_sidecars_give_captions_and_times(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "photos",
        {
            "takeout.jpg": picture(1),
            "takeout.jpg.json": {"description": "Taken out", "photoTakenTime": {"timestamp": str(at(2014))}},
            "newer.jpg": picture(2),
            "newer.jpg.supplemental-meta.json": {"photoTakenTime": {"timestamp": str(at(2013))}},
            "RAW.JPG": picture(3),
            "raw.xmp": XMP,
            "plain.png": picture(4, "PNG"),
            "plain.txt": "Just text\n",
            "none": picture(5),
        },
    )

    contents = read(folder)

    assert {each.name: (each.caption, each.posted_at) for each in contents.items} == {
        "takeout.jpg": ("Taken out", datetime(2014, 1, 1, tzinfo=UTC)),
        "newer.jpg": ("", datetime(2013, 1, 1, tzinfo=UTC)),
        "RAW.JPG": ("Salt & sun", datetime(2015, 6, 7, 6, 9, 10, tzinfo=UTC)),
        "plain.png": ("Just text", None),
        "none": ("", None),
    }
    assert contents.skipped == []


def test_what_is_no_photo_of_its_own_is_named(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "photos",
        {
            ".DS_Store": b"x",
            "__MACOSX/._a.jpg": b"x",
            "live/IMG_1.HEIC": b"still",
            "live/IMG_1.MOV": b"moving",
            "album.json": {"title": "An album"},
            "a.jpg": picture(1),
            "a.jpg.json": b"{",
        },
    )
    (folder / "link.jpg").symlink_to(folder / "a.jpg")

    contents = read(folder)

    assert [each.name for each in contents.items] == ["a.jpg", "live/IMG_1.HEIC"]
    assert {each.name for each in contents.skipped} == {
        ".DS_Store",
        "__MACOSX/._a.jpg",
        "live/IMG_1.MOV",
        "album.json",
        "a.jpg.json",
        "link.jpg",
    }
