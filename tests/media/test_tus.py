"""Resumable uploads: the tus protocol over raw HTTP, with every way an upload can be interrupted."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient

from tests.application import serve
from tests.media.support import account_of, media_id_in, on_its_shard, paths_in, purge
from tests.support import Person, photo
from tintype.media.uploads import parts
from tintype.wiring import Rooms

pytestmark = pytest.mark.usefixtures("real_pipeline")

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}
CONTENT = photo(1600, 1200)


async def begin(person: Person, size: int = len(CONTENT), **headers: str) -> str:
    answer = await person.call("POST", "/media/tus", headers={**TUS, "Upload-Length": str(size), **headers})
    assert answer.status_code == 201, answer.text
    assert answer.headers["upload-expires"]
    return answer.headers["location"].removeprefix("/api/v1")


async def send(person: Person, at: str, offset: int, content: Any, **headers: str) -> Any:
    return await person.call(
        "PATCH", at, content=content, headers={**BYTES, "Upload-Offset": str(offset), **headers}
    )


async def offset_of(person: Person, at: str) -> int:
    answer = await person.call("HEAD", at, headers=TUS)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return int(answer.headers["upload-offset"])


async def test_the_server_says_what_it_can(eve: Person, installation: Rooms) -> None:
    answer = await eve.client.options("/api/v1/media/tus")

    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["tus-max-size"] == str(installation.settings.media_video_bytes)
    assert set(answer.headers["tus-extension"].split(",")) == {
        *("creation", "creation-with-upload", "expiration", "checksum", "termination")
    }
    assert answer.headers["tus-checksum-algorithm"] == "sha1,sha256"


async def test_an_upload_in_parts_becomes_the_same_media(eve: Person, installation: Rooms) -> None:
    at = await begin(eve)
    middle = len(CONTENT) // 2

    first = await send(eve, at, 0, CONTENT[:middle])
    last = await send(eve, at, middle, CONTENT[middle:])

    assert (first.status_code, first.headers["upload-offset"]) == (204, str(middle))
    assert "media-id" not in first.headers
    assert (last.status_code, last.headers["upload-offset"]) == (204, str(len(CONTENT)))
    media = (await eve.call("GET", f"/media/{last.headers['media-id']}")).json()
    assert (media["state"], media["width"], media["height"]) == ("ready", 1080, 810)
    posted = await eve.call("POST", "/posts", json={"media_ids": [media["media_id"]]})
    assert posted.status_code == 201
    assert not [path for path in await paths_in(installation) if path.startswith("incoming/")]


async def test_the_first_bytes_may_come_with_the_creation(eve: Person) -> None:
    headers = {**BYTES, "Upload-Length": str(len(CONTENT))}
    answer = await eve.call("POST", "/media/tus", headers=headers, content=CONTENT)

    assert answer.status_code == 201
    assert answer.headers["upload-offset"] == str(len(CONTENT))
    assert answer.headers["media-id"] == answer.headers["location"].rsplit("/", 1)[1]


async def test_what_arrived_before_the_connection_broke_counts(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART_BYTES", 10_000)
    at = await begin(eve)

    async def breaking() -> AsyncIterator[bytes]:
        yield CONTENT[:25_000]
        raise ConnectionResetError

    upload = await installation.media.uploads.get(media_id_in(at.rsplit("/", 1)[1]), owner=account_of(eve))
    await installation.media.uploads.receive(upload, 0, breaking())

    assert await offset_of(eve, at) == 25_000
    assert (await send(eve, at, 25_000, CONTENT[25_000:])).headers["media-id"]


async def test_another_process_continues_where_a_killed_one_stopped(
    eve: Person, installation: Rooms, make_installation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process runs nothing more: its stored parts stay, and one it had not yet counted is ignored."""
    monkeypatch.setattr(parts, "PART_BYTES", 10_000)
    at = await begin(eve)
    is_hanging = asyncio.Event()

    async def hanging() -> AsyncIterator[bytes]:
        yield CONTENT[:20_000]
        yield CONTENT[20_000:25_000]
        is_hanging.set()
        await asyncio.sleep(3600)

    upload = await installation.media.uploads.get(media_id_in(at.rsplit("/", 1)[1]), owner=account_of(eve))
    doomed = asyncio.create_task(installation.media.uploads.receive(upload, 0, hanging()))
    await is_hanging.wait()
    doomed.cancel()
    async with serve(installation) as elsewhere:
        same = Person(elsewhere, eve.account_id, eve.username, eve.token)
        stands_at = await offset_of(same, at)
        finished = await send(same, at, stands_at, CONTENT[stands_at:])

    assert stands_at == 20_000
    assert finished.headers["media-id"]


async def test_a_wrong_offset_is_a_conflict_and_changes_nothing(eve: Person) -> None:
    at = await begin(eve)
    await send(eve, at, 0, CONTENT[:100])

    answers = [await send(eve, at, offset, b"x") for offset in (0, 99, 101)]

    assert [(each.status_code, each.json()["code"]) for each in answers] == [(409, "upload_offset_wrong")] * 3
    assert await offset_of(eve, at) == 100


async def test_of_two_senders_at_one_offset_one_wins(eve: Person, installation: Rooms) -> None:
    at = await begin(eve)

    answers = await asyncio.gather(*(send(eve, at, 0, CONTENT[:5000]) for _ in range(6)))

    assert sorted(answer.status_code for answer in answers) == [204, *[409] * 5]
    assert await offset_of(eve, at) == 5000
    assert len([path for path in await paths_in(installation) if path.startswith("incoming/")]) == 1
    assert (await send(eve, at, 5000, CONTENT[5000:])).headers["media-id"]


@pytest.mark.slow
async def test_finishing_at_the_same_time_makes_one_photo(eve: Person, installation: Rooms) -> None:
    at = await begin(eve)
    upload_id, owner = media_id_in(at.rsplit("/", 1)[1]), account_of(eve)
    upload = await installation.media.uploads.get(upload_id, owner=owner)

    async def whole() -> AsyncIterator[bytes]:
        yield CONTENT

    await installation.media.uploads.receive(upload, 0, whole())
    made = await asyncio.gather(
        *(installation.media.uploads.finish(upload_id, owner=owner) for _ in range(4))
    )

    assert len({media.folder for media in made}) == 1
    folders = {
        path.split("/")[1]
        for path in await paths_in(installation)
        if not path.startswith(("private/", "incoming/"))
    }
    assert len(folders) == 1
    shown = (await eve.call("GET", f"/media/{upload_id}")).json()
    assert (await eve.client.get(shown["urls"]["1080"])).status_code == 200


async def test_a_lost_last_response_can_be_requested_again(eve: Person) -> None:
    at = await begin(eve)
    await send(eve, at, 0, CONTENT)

    again = await eve.call("GET", at)

    assert await offset_of(eve, at) == len(CONTENT)
    assert again.json()["state"] == "ready"


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
async def test_bytes_that_do_not_match_their_checksum_do_not_count(eve: Person, algorithm: str) -> None:
    at = await begin(eve)
    digest = base64.b64encode(hashlib.new(algorithm, CONTENT).digest()).decode()

    wrong = await send(eve, at, 0, CONTENT[:-1] + b"x", **{"Upload-Checksum": f"{algorithm} {digest}"})
    stands_at = await offset_of(eve, at)
    right = await send(eve, at, 0, CONTENT, **{"Upload-Checksum": f"{algorithm} {digest}"})
    unknown = await send(eve, at, 0, CONTENT, **{"Upload-Checksum": "md5 abc"})

    assert (wrong.status_code, wrong.json()["code"]) == (460, "checksum_wrong")
    assert stands_at == 0
    assert right.headers["media-id"]
    assert (unknown.status_code, unknown.json()["code"]) == (400, "checksum_unknown")


async def test_an_upload_is_visible_to_its_sender_alone(eve: Person, mo: Person) -> None:
    at = await begin(eve)

    answers = [
        await mo.call("HEAD", at, headers=TUS),
        await send(mo, at, 0, b"x"),
        await mo.call("DELETE", at, headers=TUS),
        await mo.call("GET", at),
    ]

    assert [answer.status_code for answer in answers] == [404] * 4
    assert await offset_of(eve, at) == 0


async def test_an_upload_can_be_cancelled_and_its_bytes_are_gone(eve: Person, installation: Rooms) -> None:
    at = await begin(eve)
    await send(eve, at, 0, CONTENT[:1000])

    ended = await eve.call("DELETE", at, headers=TUS)

    assert ended.status_code == 204
    assert (await eve.call("HEAD", at, headers=TUS)).status_code == 404
    assert await paths_in(installation) == []


async def test_an_expired_upload_is_gone_and_its_bytes_purged(eve: Person, installation: Rooms) -> None:
    at = await begin(eve)
    await send(eve, at, 0, CONTENT[:1000])
    upload_id = at.rsplit("/", 1)[1]
    await on_its_shard(installation, upload_id, "UPDATE media_uploads SET expires_at = now() WHERE id = {id}")

    head = await eve.call("HEAD", at, headers=TUS)
    late = await send(eve, at, 1000, CONTENT[1000:])
    await purge(installation)

    assert (head.status_code, late.status_code) == (404, 404)
    assert await paths_in(installation) == []


async def test_a_refused_file_ends_its_upload(eve: Person, installation: Rooms) -> None:
    at = await begin(eve, 5000)

    answer = await send(eve, at, 0, b"no photo " * 555 + b"12345")

    assert (answer.status_code, answer.json()["code"]) == (400, "media_unsupported")
    assert (await eve.call("HEAD", at, headers=TUS)).status_code == 404
    assert await paths_in(installation) == []


async def test_more_bytes_than_announced_are_refused(eve: Person) -> None:
    at = await begin(eve, 100)

    answer = await send(eve, at, 0, CONTENT[:200])

    assert (answer.status_code, answer.json()["code"]) == (413, "media_too_large")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Upload-Length": "10"}, "tus_version_wrong"),
        (TUS, "tus_header_wrong"),
        ({**TUS, "Upload-Length": "-1"}, "tus_header_wrong"),
        ({**TUS, "Upload-Length": "9" * 40}, "tus_header_wrong"),
        ({**TUS, "Upload-Length": "10", "Upload-Metadata": "kind !!!"}, "tus_header_wrong"),
        ({**TUS, "Upload-Length": "10", "Upload-Metadata": "kind bm9uc2Vuc2U="}, "form_invalid"),
        ({**TUS, "Upload-Length": str(2**39)}, "media_too_large"),
    ],
)
async def test_invalid_headers_at_the_start_of_an_upload_are_refused(
    eve: Person, headers: dict[str, str], code: str
) -> None:
    answer = await eve.call("POST", "/media/tus", headers=headers)

    assert answer.json()["code"] == code
    assert answer.headers["tus-resumable"] == "1.0.0"
    assert answer.status_code == {"tus_version_wrong": 412, "media_too_large": 413}.get(code, 400)


async def test_bytes_of_another_type_are_refused(eve: Person) -> None:
    at = await begin(eve)

    answer = await send(eve, at, 0, CONTENT, **{"Content-Type": "image/jpeg"})

    assert (answer.status_code, answer.json()["code"]) == (415, "tus_type_wrong")


@pytest.mark.slow
async def test_nobody_begins_more_uploads_than_they_can_finish(eve: Person) -> None:
    answers = [
        await eve.call("POST", "/media/tus", headers={**TUS, "Upload-Length": "10"}) for _ in range(51)
    ]

    assert [answer.status_code for answer in answers[-2:]] == [201, 429]
    assert answers[-1].json()["code"] == "too_many_uploads"


async def test_uploads_need_authentication(client: AsyncClient) -> None:
    answer = await client.post("/api/v1/media/tus", headers={**TUS, "Upload-Length": "10"})

    assert answer.status_code == 401
