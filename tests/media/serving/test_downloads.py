"""Downloads: off unless the author allows them, never more than the post shows, and over when the author says."""

import io

import msgspec
import pytest
from httpx import AsyncClient
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.serving.test_large_photos import post
from tests.support import Person, photo

LOCATED = sample_photos.encode(
    sample_photos.landscape(1600, 1200), exif=sample_photos.exif_with_place(), quality=90
)


async def allow(person: Person, *, on: bool = True) -> None:
    answer = await person.call("PATCH", "/accounts/me", json={"allows_downloads": on})
    assert answer.json()["allows_downloads"] is on


async def test_nobody_downloads_what_the_author_does_not_offer(
    http: AsyncClient, eve: Person, mo: Person
) -> None:
    media = await post(eve, photo(1600, 1200))
    path = f"{media['url'].rpartition('/')[0]}/original"

    plain = await http.get(path)
    as_other = await http.get(path, headers={"Authorization": f"Bearer {mo.token}"})
    as_owner = await http.get(path, headers={"Authorization": f"Bearer {eve.token}"})

    assert media["download_url"] is None
    assert (plain.status_code, as_other.status_code, as_owner.status_code) == (404, 404, 200)


@pytest.mark.slow
async def test_an_unedited_photo_is_downloaded_as_it_was_uploaded_without_its_location(
    http: AsyncClient, eve: Person
) -> None:
    await allow(eve)
    media = await post(eve, LOCATED)

    answer = await http.get(media["download_url"])

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"] == "private, no-store"
    name = f"eve-{media['media_id']}.jpg"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    with Image.open(io.BytesIO(answer.content)) as image, Image.open(io.BytesIO(LOCATED)) as sent:
        assert image.size == (1600, 1200)
        assert image.tobytes() == sent.tobytes()
        assert not image.getexif().get_ifd(0x8825)


@pytest.mark.parametrize("why", ["edited", "its owner keeps its location"])
@pytest.mark.slow
async def test_other_photos_are_downloaded_as_they_are_shown(
    http: AsyncClient, eve: Person, why: str
) -> None:
    await allow(eve)
    edit = msgspec.json.encode({"crop": {"width": 0.75}}).decode()
    media = await post(eve, LOCATED, **({"edit": edit} if why == "edited" else {"keep_location": "true"}))
    width = 1200 if why == "edited" else 1600

    answer = await http.get(media["download_url"])

    assert answer.headers["content-disposition"].startswith("attachment; ")
    with Image.open(io.BytesIO(answer.content)) as image:
        assert image.size == (width, 1200)
        assert dict(image.getexif()) == {}


async def test_the_offer_ends_at_once_and_everywhere(http: AsyncClient, eve: Person) -> None:
    await allow(eve)
    published = await eve.publish()
    url = published["media"][0]["download_url"]

    before = await http.get(url)
    await allow(eve, on=False)
    after = await http.get(url)
    shown = (await eve.call("GET", f"/posts/{published['post_id']}")).json()

    assert (before.status_code, after.status_code) == (200, 404)
    assert shown["media"][0]["download_url"] is None


async def test_a_private_accounts_download_needs_its_signed_url(http: AsyncClient, eve: Person) -> None:
    await allow(eve)
    await eve.call("PATCH", "/accounts/me", json={"is_private": True})
    media = await post(eve, photo(800, 600))
    signed = media["download_url"]
    plain = "/media/" + signed.split("/", 3)[3]

    assert ((await http.get(signed)).status_code, (await http.get(plain)).status_code) == (200, 404)
