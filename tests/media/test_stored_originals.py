"""Originals of earlier releases: brought to what uploads store today, once, in the background."""

from pathlib import Path
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation
from tests.media.metadata.located_photos import HEICS, JPEGS, is_named
from tests.media.support import account_of, handle, media_id_in, on_its_shard, paths_in, storage_of
from tests.media.videos.sample_videos import METADATA, make_clip
from tests.support import Person, photo
from tintype.media import VideoReceived
from tintype.wiring import Rooms


@pytest.fixture
def installation(make_installation: MakeInstallation) -> Rooms:
    return make_installation()


async def upload(person: Person, content: bytes, **fields: str) -> str:
    answer = await person.call("POST", "/media/upload", files={"file": ("a", content)}, data=fields)
    return answer.json()["media_id"]


async def as_stored_before(installation: Rooms, media_id: str, original: bytes) -> str:
    """An original as an earlier release would have left it; returns its path."""
    rows = await on_its_shard(
        installation, media_id, "UPDATE media SET removed = NULL WHERE id = {id} RETURNING folder"
    )
    path = f"private/{rows[0]['folder']}/original"
    await storage_of(installation).put(path, original)
    return path


async def clean_all(installation: Rooms) -> None:
    for schedule in installation.media.schedules():
        if schedule.name == "media-clean-originals":
            await schedule.run()


async def read(installation: Rooms, path: str) -> bytes:
    return b"".join([chunk async for chunk in (await storage_of(installation).open(path)).chunks])


async def described(person: Person, media_id: str) -> Any:
    return (await person.call("GET", f"/media/{media_id}")).json()


async def test_an_original_stored_by_an_earlier_release_loses_its_location(
    eve: Person, installation: Rooms
) -> None:
    media_id = await upload(eve, photo())
    path = await as_stored_before(installation, media_id, HEICS["Exif without a prefix"])
    before = await described(eve, media_id)

    await clean_all(installation)
    first = await read(installation, path)
    await clean_all(installation)

    assert before["removed"] == []
    assert not is_named(first)
    assert await read(installation, path) == first
    assert (await described(eve, media_id))["removed"] == ["location", "metadata"]


async def test_an_original_whose_location_is_kept_stays_as_it_is(eve: Person, installation: Rooms) -> None:
    media_id = await upload(eve, photo(), keep_location="true")
    path = await as_stored_before(installation, media_id, JPEGS["Exif"])

    await clean_all(installation)

    assert await read(installation, path) == JPEGS["Exif"]


async def test_an_original_that_cannot_be_cleaned_is_deleted(eve: Person, installation: Rooms) -> None:
    media_id = await upload(eve, photo())
    path = await as_stored_before(installation, media_id, JPEGS["Exif"][:-40])

    await clean_all(installation)

    assert path not in await paths_in(installation)
    assert (await described(eve, media_id))["removed"][-1] == "original"


@pytest.mark.slow
async def test_the_original_of_a_converted_video_is_deleted(
    eve: Person, installation: Rooms, tmp_path: Path
) -> None:
    clip = make_clip(tmp_path / "a.mp4", metadata=METADATA).read_bytes()
    media_id = await upload(eve, clip)
    await handle(installation, VideoReceived(media_id_in(media_id), account_of(eve)))
    path = await as_stored_before(installation, media_id, clip)

    await clean_all(installation)

    assert path not in await paths_in(installation)
    assert (await described(eve, media_id))["state"] == "ready"
