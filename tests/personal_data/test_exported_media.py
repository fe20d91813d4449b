"""The photos and videos in an archive: originals where they are kept, else the best file there is."""

import json
import tracemalloc
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.media.metadata.located_photos import HEICS, JPEGS, PNGS, WEBPS, is_named
from tests.media.support import account_of, handle, media_id_in
from tests.media.videos.sample_videos import METADATA, make_clip
from tests.personal_data.test_exports import download, event_of, request_export
from tests.support import Person, photo
from tintype.base.personal_data import ExportRecord
from tintype.media import MediaReady, VideoReceived
from tintype.personal_data.archive import Archive
from tintype.wiring import Rooms

MEGABYTE = 1 << 20


async def send(person: Person, content: bytes, **fields: str) -> Any:
    answer = await person.call("POST", "/media/upload", files={"file": ("a", content)}, data=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def export_of(rooms: Rooms, person: Person) -> zipfile.ZipFile:
    made = await request_export(person)
    await rooms.personal_data.make_export(event_of(person, made))
    return await download(person, made)


async def original_of(person: Person, media_id: str) -> bytes:
    return (await person.call("GET", f"/media/{media_id}/original")).content


def files_by_media(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    return {each["media_id"]: each["file"] for each in json.loads(archive.read(name))}


@pytest.mark.slow
async def test_an_archive_holds_originals_and_not_what_a_feed_shows(rooms: Rooms, ana: Person) -> None:
    large = photo(3000, 2000)
    post = await ana.publish()
    media = {
        "jpg": await send(ana, large),
        "png": await send(ana, PNGS["an eXIf chunk"]),
        "webp": await send(ana, WEBPS["both"]),
        "heic": await send(ana, HEICS["Exif without a prefix"]),
    }

    archive = await export_of(rooms, ana)

    files = files_by_media(archive, "uploads.json")
    assert archive.read(files[media["jpg"]["media_id"]]) == large
    for extension, each in media.items():
        content = archive.read(files[each["media_id"]])
        assert files[each["media_id"]].endswith(f"/original.{extension}")
        assert content == await original_of(ana, each["media_id"])
        assert not is_named(content)
    posted = files_by_media(archive, "media.json")
    assert list(posted) == [each["media_id"] for each in post["media"]]
    assert all(name.endswith("/original.jpg") for name in posted.values())


async def test_a_kept_location_is_in_the_archive(rooms: Rooms, ana: Person) -> None:
    media = await send(ana, JPEGS["Exif"], keep_location="true")

    archive = await export_of(rooms, ana)

    assert archive.read(files_by_media(archive, "uploads.json")[media["media_id"]]) == JPEGS["Exif"]


@pytest.mark.slow
async def test_a_video_is_in_the_archive_and_not_only_its_poster(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4", metadata=METADATA).read_bytes()
    forgotten, kept = await send(ana, clip), await send(ana, clip, keep_location="true")
    for each in (forgotten, kept):
        media_id = media_id_in(each["media_id"])
        await handle(rooms, VideoReceived(media_id, account_of(ana)))
        await handle(rooms, MediaReady(media_id, account_of(ana)))

    archive = await export_of(rooms, ana)

    files = files_by_media(archive, "uploads.json")
    assert files[forgotten["media_id"]].endswith("/video.mp4")
    assert archive.read(files[forgotten["media_id"]])[4:8] == b"ftyp"
    assert files[kept["media_id"]].endswith("/original.mp4")
    assert archive.read(files[kept["media_id"]]) == clip


async def test_the_largest_size_stands_in_for_an_original_that_is_not_kept(rooms: Rooms, ana: Person) -> None:
    content = HEICS["Exif without a prefix"]
    at = content.index(b"iloc") + 12 + 16 + 8  # the offset of the Exif item: now within the picture
    offset = content.index(b"mdat") + 4
    media = await send(ana, content[:at] + offset.to_bytes(4, "big") + content[at + 4 :])

    archive = await export_of(rooms, ana)

    name = files_by_media(archive, "uploads.json")[media["media_id"]]
    assert name.endswith("/1080.jpg")
    assert archive.read(name)[:2] == b"\xff\xd8"


async def test_a_large_file_is_added_as_it_arrives(tmp_path: Path) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for number in range(64):
            yield bytes([number]) * MEGABYTE

    tracemalloc.start()
    with Archive(tmp_path) as archive:
        path = await archive.attach("1/2-x", "1/2-x/original.mp4", chunks())
        archive.add(ExportRecord("media.json", {"media_id": "2"}), path)
        size_bytes = archive.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size_bytes > 64 * MEGABYTE
    assert peak < 16 * MEGABYTE
    with zipfile.ZipFile(tmp_path / "export.zip") as made:
        assert made.read(path)[-1] == 63
        assert json.loads(made.read("media.json")) == [{"media_id": "2", "file": path}]
