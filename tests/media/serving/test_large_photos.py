"""Photos at 1440 and 2048 px: of the original, with the author's edit, no larger than it was, and nothing more."""

import asyncio
import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.application import serve
from tests.media.conftest import MakeInstallation, visiting
from tests.media.photos import sample_photos
from tests.media.support import handle, media_id_in, on_its_shard, paths_in
from tests.support import Person, photo
from tintype.media import MediaDeleted
from tintype.media.serving import renditions
from tintype.media.uploads.pipeline import MediaPipeline
from tintype.wiring import Rooms


async def send(person: Person, content: bytes, **fields: str) -> dict[str, Any]:
    files = {"file": ("photo.jpg", content, "image/jpeg")}
    answer = await person.call("POST", "/media/upload", files=files, data=fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def post(person: Person, content: bytes, **fields: str) -> dict[str, Any]:
    """The media of a new post of this photo."""
    sent = await send(person, content, **fields)
    answer = await person.call("POST", "/posts", json={"media_ids": [sent["media_id"]]})
    return answer.json()["media"][0]


async def picture(person: Person, url: str) -> NDArray[np.uint8]:
    answer = await person.client.get(url, headers={"Accept": "image/jpeg"})
    assert answer.status_code == 200, answer.text
    with Image.open(io.BytesIO(answer.content)) as image:
        return np.asarray(image.convert("RGB"))


@pytest.mark.parametrize(
    ("width", "height", "large"),
    [
        (3000, 1500, {"1440": "1440.jpg", "2048": "2048.jpg"}),
        (2000, 1000, {"1440": "1440.jpg", "2000": "2048.jpg"}),
        (1300, 1300, {"1300": "1440.jpg"}),
        (1080, 1350, {}),
        (400, 300, {}),
        (1200, 6000, {}),
    ],
)
@pytest.mark.slow
async def test_a_photo_has_the_sizes_it_is_large_enough_for_by_their_true_width(
    eve: Person, width: int, height: int, large: dict[str, str]
) -> None:
    media = await post(eve, photo(width, height))
    read_back = (await eve.call("GET", f"/media/{media['media_id']}")).json()

    found = {key: url.rpartition("/")[2] for key, url in media["urls"].items() if int(key) > 1080}
    assert found == large
    assert read_back["urls"].keys() == media["urls"].keys()
    for key in large:
        pixels = await picture(eve, media["urls"][key])
        assert pixels.shape[1] == int(key)
        assert abs(pixels.shape[0] - height * int(key) / width) <= 1
    base = media["url"].rpartition("/")[0]
    missing = [name for name in ("1440.jpg", "2048.jpg") if name not in large.values()]
    assert [(await eve.client.get(f"{base}/{name}")).status_code for name in missing] == [404] * len(missing)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The widths of the large sizes that are made during the test."""
    real, widths = MediaPipeline.make_large_photo, list[int]()

    async def make(self: MediaPipeline, original: Path, out: Path, width: int, edit: bytes) -> None:
        widths.append(width)
        await real(self, original, out, width, edit)

    monkeypatch.setattr(MediaPipeline, "make_large_photo", make)
    return widths


@pytest.mark.slow
async def test_a_large_size_is_made_once_when_it_is_asked_for_and_counted(
    eve: Person, installation: Rooms, made: list[int]
) -> None:
    media = await post(eve, photo(2200, 1100))
    before = await paths_in(installation)

    answers = await asyncio.gather(*(eve.client.get(media["urls"]["2048"]) for _ in range(6)))
    again = await eve.client.get(media["urls"]["2048"])

    used = (await eve.call("GET", "/accounts/me/storage")).json()["used_bytes"]
    stored = [each async for each in installation.media.storage.list_objects("")]
    assert made == [2048]
    assert len({answer.content for answer in (*answers, again)}) == 1
    assert again.headers["cache-control"] == "public, max-age=86400, s-maxage=60"
    assert {each.path for each in stored} - set(before) == {media["urls"]["2048"].removeprefix("/media/")}
    assert used == sum(each.size_bytes for each in stored)


async def test_of_two_processes_one_makes_it_and_the_other_waits(
    make_installation: MakeInstallation, made: list[int]
) -> None:
    async with visiting(make_installation(), "eve") as eve, serve(make_installation()) as other:
        media = await post(eve, photo(1500, 1000))

        answers = await asyncio.gather(*(each.get(media["urls"]["1440"]) for each in (eve.client, other)))

    assert made == [1440]
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.slow
async def test_a_large_size_shows_what_the_author_kept_with_the_authors_look(eve: Person) -> None:
    content = sample_photos.encode(sample_photos.corners(4000, 3000), quality=92)
    edit = {"crop": {"x": 0, "y": 0, "width": 0.5, "height": 0.5}, "look": "north-window", "turns": 0}

    media = await post(eve, content, edit=msgspec.json.encode(edit).decode())
    small, large = [await picture(eve, media["urls"][size]) for size in ("1080", "2000")]

    assert large.shape[:2] == (1500, 2000)
    top_left = np.array(sample_photos.CORNERS["top left"])
    assert np.abs(large.mean((0, 1)) - small.mean((0, 1))).max() < 3
    assert large.std((0, 1)).max() < 25  # one colour, darker towards the corners at most: no other quarter
    assert np.abs(large.mean((0, 1)) - top_left).max() > 3  # and with the look


@pytest.mark.slow
async def test_a_large_size_tells_no_location_even_where_the_owner_keeps_it(eve: Person) -> None:
    content = sample_photos.encode(
        sample_photos.landscape(2400, 1600), exif=sample_photos.exif_with_place(), comment=b"a comment"
    )
    media = await post(eve, content, keep_location="true")

    answers = [await eve.client.get(media["urls"][size]) for size in ("1440", "2048")]

    for answer in answers:
        with Image.open(io.BytesIO(answer.content)) as image:
            assert dict(image.getexif()) == {}
        assert not [
            secret
            for secret in (b"Exif", b"GPS", b"Tintype Camera", b"a comment")
            if secret in answer.content
        ]


async def size_old_photos(installation: Rooms) -> None:
    """Run the job that examines photos of earlier releases."""
    for schedule in installation.media.schedules():
        if schedule.name == "media-size-photos":
            await schedule.run()


@pytest.mark.parametrize(
    ("edit", "widest"),
    [("null", 2048), ('{"crop": {"x": 0.02, "width": 0.98}}', 1080), ('{"brightness": 1}', 1080)],
)
@pytest.mark.slow
async def test_a_photo_of_an_earlier_release_gets_large_sizes_where_it_was_not_edited(
    eve: Person, installation: Rooms, edit: str, widest: int
) -> None:
    content = sample_photos.encode(sample_photos.landscape(2200, 1100), exif=sample_photos.exif_with_place())
    media = await post(eve, content, edit=edit)
    forget = "UPDATE media SET large_width = NULL, edit = NULL WHERE id = {id}"
    await on_its_shard(installation, media["media_id"], forget)
    asked_early = await eve.client.get(media["urls"]["2048"])
    unknown = (await eve.call("GET", f"/media/{media['media_id']}")).json()

    await size_old_photos(installation)
    known = (await eve.call("GET", f"/media/{media['media_id']}")).json()
    asked_late = await eve.client.get(media["urls"]["2048"])

    assert max(map(int, unknown["urls"])) == 1080
    assert max(map(int, known["urls"])) == widest
    assert (asked_early.status_code, asked_late.status_code) == (404, 200 if widest > 1080 else 404)


@pytest.mark.parametrize("why", ["too many are being made", "the original is gone"])
async def test_what_cannot_be_made_is_sent_smaller_and_asked_for_again_soon(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    media = await post(eve, photo(2200, 1100))
    if why == "the original is gone":
        folder = media["url"].removeprefix("/media/").rpartition("/")[0]
        await installation.media.storage.delete([f"private/{folder}/original"])
    else:
        monkeypatch.setattr(renditions, "MAX_WAITING", 0)

    answer = await eve.client.get(media["urls"]["2048"])
    smaller = await eve.client.get(media["url"])

    assert (answer.status_code, answer.content) == (200, smaller.content)
    assert answer.headers["cache-control"] == "public, max-age=60, s-maxage=60"


async def test_a_private_accounts_large_size_opens_by_its_signed_url_alone_and_goes_with_its_post(
    eve: Person, installation: Rooms
) -> None:
    await eve.call("PATCH", "/accounts/me", json={"is_private": True})
    media = await post(eve, photo(1500, 1500))
    signed = media["urls"]["1440"]
    plain = "/media/" + signed.split("/", 3)[3]

    opened = await eve.client.get(signed)
    refused = await eve.client.get(plain)
    await installation.media.delete([media_id_in(media["media_id"])])
    after = await eve.client.get(signed)
    await handle(installation, MediaDeleted([media_id_in(media["media_id"])]))

    assert (opened.status_code, refused.status_code, after.status_code) == (200, 404, 404)
    assert opened.headers["cache-control"].startswith("private, max-age=")
    assert await paths_in(installation) == []
