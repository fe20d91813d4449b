"""Through the API: what is stored of an upload that does not keep its location, and what its owner is told."""

from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation, working_on
from tests.media.metadata import located_photos, located_videos
from tests.media.metadata.located_photos import HEICS, JPEGS, PNGS, WEBPS
from tests.media.photos import sample_photos
from tests.media.support import account_of, handle, media_id_in, paths_in, storage_of
from tests.media.videos.sample_videos import METADATA, make_clip
from tests.support import Person, eventually
from tintype.media import VideoReceived
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

PHOTOS = {
    "JPEG": JPEGS["Exif"],
    "motion photo": JPEGS["a motion photo"],
    "PNG": PNGS["an eXIf chunk"],
    "PNG with texts": PNGS["a packed raw profile"],
    "WebP": WEBPS["both"],
    "HEIC": HEICS["Exif without a prefix"],
    "HEIC with XMP": HEICS["Exif and XMP"],
}


@pytest.fixture
def installation(make_installation: MakeInstallation) -> Rooms:
    return make_installation()


async def send(person: Person, content: bytes, **fields: str) -> Any:
    return await person.call("POST", "/media/upload", files={"file": ("a", content)}, data=fields)


async def stored_files(installation: Rooms) -> dict[str, bytes]:
    """Every object in the store."""
    storage = storage_of(installation)
    found: dict[str, bytes] = {}
    for path in await paths_in(installation):
        found[path] = b"".join([chunk async for chunk in (await storage.open(path)).chunks])
    return found


@pytest.mark.parametrize("name", PHOTOS)
async def test_no_stored_file_of_a_photo_has_its_location(
    eve: Person, installation: Rooms, name: str
) -> None:
    answer = await send(eve, PHOTOS[name])

    files = await stored_files(installation)
    assert answer.status_code == 201
    assert "location" in answer.json()["removed"]
    assert "original" not in answer.json()["removed"]
    assert [path for path in files if path.endswith("/original")]
    assert [path for path, content in files.items() if located_photos.is_named(content)] == []


@pytest.mark.parametrize("name", PHOTOS)
async def test_a_photo_of_every_format_can_be_edited_again(eve: Person, name: str) -> None:
    first = (await send(eve, PHOTOS[name])).json()

    edited = await eve.call("POST", f"/media/{first['media_id']}/edits", json={"edit": {"look": "ferrous"}})
    again = await eve.call(
        "POST", f"/media/{edited.json()['media_id']}/edits", json={"edit": {"crop": {"width": 0.5}}}
    )

    assert (edited.status_code, again.status_code) == (201, 201)
    assert edited.json()["removed"] == []
    assert (edited.json()["width"], edited.json()["height"]) == (first["width"], first["height"])


@pytest.mark.parametrize("orientation", [6, 8])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
async def test_an_edited_photo_stands_as_the_first_one(eve: Person, kind: str, orientation: int) -> None:
    upright = sample_photos.corners(300, 400)
    block = b"Exif\0\0" + located_photos.exif(orientation=orientation)
    sent = sample_photos.encode(sample_photos.stored(orientation, upright), kind, exif=block)
    first = (await send(eve, sent)).json()

    edited = await eve.call("POST", f"/media/{first['media_id']}/edits", json={"edit": None})

    shown = [await eve.client.get(each["urls"]["320"]) for each in (first, edited.json())]
    assert shown[0].content == shown[1].content


async def test_what_was_removed_can_be_read_later(eve: Person) -> None:
    uploaded = (await send(eve, JPEGS["a motion photo"])).json()

    found = (await eve.call("GET", f"/media/{uploaded['media_id']}")).json()

    assert found["removed"] == uploaded["removed"] == ["location", "metadata", "attachments"]


async def test_an_original_that_cannot_be_cleaned_is_not_stored_and_its_owner_is_told(
    eve: Person, installation: Rooms
) -> None:
    content = HEICS["Exif without a prefix"]
    at = content.index(b"iloc") + 12 + 16 + 8  # the offset of the Exif item: now within the picture
    offset = content.index(b"mdat") + 4
    answer = await send(eve, content[:at] + offset.to_bytes(4, "big") + content[at + 4 :])

    media_id = answer.json()["media_id"]
    missing = [await eve.call("GET", f"/media/{media_id}/original")]
    missing.append(await eve.call("POST", f"/media/{media_id}/edits", json={"edit": None}))
    assert (answer.status_code, answer.json()["removed"][-1]) == (201, "original")
    assert [each.json()["code"] for each in missing] == ["media_not_found"] * 2
    assert not any(located_photos.is_named(each) for each in (await stored_files(installation)).values())


async def test_nothing_is_removed_from_what_keeps_its_location(eve: Person) -> None:
    sent = JPEGS["a motion photo"]

    uploaded = (await send(eve, sent, keep_location="true")).json()

    assert uploaded["removed"] == []
    assert (await eve.call("GET", f"/media/{uploaded['media_id']}/original")).content == sent


async def test_no_stored_file_of_a_video_has_its_location_not_even_before_it_is_converted(
    eve: Person, installation: Rooms, clean_streams: None, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4", metadata=METADATA)
    clip.write_bytes(located_videos.with_sensor_track(clip.read_bytes()))
    uploaded = (await send(eve, clip.read_bytes())).json()
    waiting = await stored_files(installation)

    async with working_on(installation):

        async def is_converted() -> bool:
            state = (await eve.call("GET", f"/media/{uploaded['media_id']}")).json()["state"]
            return state == "ready"

        await eventually(is_converted, what="the clip is made", patience_s=120)
    converted = await stored_files(installation)

    assert "location" in uploaded["removed"]
    assert [path for path in waiting if path.endswith("/original")]
    assert [path for path in converted if path.endswith("/video.mp4")]
    for files in (waiting, converted):
        assert [path for path, content in files.items() if located_videos.is_named(content)] == []


async def test_a_video_that_keeps_its_location_is_stored_as_it_is(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4", metadata=METADATA)
    uploaded = (await send(eve, clip.read_bytes(), keep_location="true")).json()

    await handle(installation, VideoReceived(media_id_in(uploaded["media_id"]), account_of(eve)))

    original = await eve.call("GET", f"/media/{uploaded['media_id']}/original")
    assert uploaded["removed"] == []
    assert original.content == clip.read_bytes()
