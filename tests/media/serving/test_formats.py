"""AVIF and WebP: made in the background for what is read often, kept, and sent to whoever accepts them."""

import asyncio
from typing import Any

import pytest

from tests.media.conftest import MakeInstallation, visiting
from tests.media.support import media_id_in, paths_in
from tests.support import Person, photo
from tintype.media.serving import renditions
from tintype.wiring import Rooms

READS = 3
BOTH = "image/avif,image/webp,*/*"


@pytest.fixture
def installation(make_installation: MakeInstallation) -> Rooms:
    """An installation where a file is converted after three reads."""
    return make_installation(media_convert_after_reads=READS)


async def posted(person: Person) -> str:
    media_id = (await person.upload(photo(1200, 900))).json()["media_id"]
    return (await person.call("POST", "/posts", json={"media_ids": [media_id]})).json()["media"][0]["url"]


async def read(person: Person, address: str, accept: str, times: int = 1) -> list[Any]:
    return [await person.client.get(address, headers={"Accept": accept}) for _ in range(times)]


async def converted(installation: Rooms) -> list[str]:
    """The formats in the store, once nothing is being made any more."""
    await installation.media.close()
    return [
        path.rpartition("/")[2] for path in await paths_in(installation) if path.endswith(("avif", "webp"))
    ]


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (BOTH, "image/avif"),
        ("image/webp,*/*", "image/webp"),
        ("image/avif;q=0, image/webp;q=0.8", "image/webp"),
        ("*/*", "image/jpeg"),
        ("", "image/jpeg"),
    ],
)
@pytest.mark.slow
async def test_a_file_is_converted_after_so_many_reads_that_accept_it_and_not_before(
    eve: Person, installation: Rooms, accept: str, media_type: str
) -> None:
    address = await posted(eve)

    early = await read(eve, address, accept, READS - 1)
    before = await converted(installation)
    last = await asyncio.gather(*(eve.client.get(address, headers={"Accept": accept}) for _ in range(4)))
    after = await converted(installation)
    [answer] = await read(eve, address, accept)

    assert {each.headers["content-type"] for each in (*early, last[0])} == {"image/jpeg"}
    assert (before, len(after)) == ([], 0 if media_type == "image/jpeg" else 1)
    assert answer.headers["content-type"] == media_type
    assert {each.headers["vary"] for each in (*early, *last, answer)} == {"Accept"}


async def test_a_browser_keeps_the_jpeg_and_an_edge_asks_again_soon(
    make_installation: MakeInstallation,
) -> None:
    installation = make_installation(media_convert_after_reads=READS, media_edge_cache_s=3_600)
    async with visiting(installation, "eve") as eve:
        address = await posted(eve)

        [waiting] = await read(eve, address, BOTH)
        [jpeg] = await read(eve, address, "image/jpeg")

    assert waiting.headers["cache-control"] == "public, max-age=86400, s-maxage=60"
    assert jpeg.headers["cache-control"] == "public, max-age=86400, s-maxage=3600"


@pytest.mark.slow
async def test_who_accepts_only_a_larger_format_gets_that_and_each_has_its_own_etag(
    eve: Person, installation: Rooms
) -> None:
    address = await posted(eve)
    await read(eve, address, "image/webp", READS)
    assert await converted(installation) == ["1080.webp"]

    [jpeg], [webp], [both] = [await read(eve, address, accept) for accept in ("*/*", "image/webp", BOTH)]
    again = await eve.client.get(
        address, headers={"Accept": "image/webp", "If-None-Match": jpeg.headers["etag"]}
    )

    types = [each.headers["content-type"] for each in (jpeg, webp, both)]
    assert types == ["image/jpeg", "image/webp", "image/webp"]
    assert webp.headers["etag"] != jpeg.headers["etag"]
    assert again.status_code == 200


@pytest.mark.parametrize("why", ["busy", "turned off"])
async def test_a_file_that_is_not_converted_is_sent_as_it_is(
    make_installation: MakeInstallation, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "busy":
        monkeypatch.setattr(renditions, "MAX_AT_ONCE", 0)
    installation = make_installation(media_convert_after_reads=1 if why == "busy" else 0)
    async with visiting(installation, "eve") as eve:
        answers = await read(eve, await posted(eve), BOTH, 3)

        assert {each.headers["content-type"] for each in answers} == {"image/jpeg"}
        assert await converted(installation) == []


async def test_what_was_deleted_while_it_was_converted_leaves_no_file(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (await eve.upload()).json()
    storage = installation.media.storage
    real_put = storage.put

    async def put_too_late(path: str, content: Any, **options: Any) -> None:
        await installation.media.delete([media_id_in(body["media_id"])])
        await storage.delete_prefix(path.rpartition("/")[0])
        await real_put(path, content, **options)

    monkeypatch.setattr(storage, "put", put_too_late)
    await read(eve, body["urls"]["1080"], "image/webp", READS)

    assert await converted(installation) == []
