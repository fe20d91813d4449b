"""Files on their way out: ranges, conditions, formats, caching, and addresses that are none."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.media.support import on_its_shard, storage_of
from tests.support import Person, photo
from tintype.wiring import Rooms

JPEG_ONLY = {"Accept": "image/jpeg"}


async def posted(person: Person) -> str:
    media_id = (await person.upload(photo(1200, 900))).json()["media_id"]
    return (await person.call("POST", "/posts", json={"media_ids": [media_id]})).json()["media"][0]["url"]


async def test_a_file_may_be_cached_for_a_day_by_browsers_a_minute_by_the_edge_and_has_an_etag(
    eve: Person,
) -> None:
    address = await posted(eve)

    whole = await eve.client.get(address, headers=JPEG_ONLY)
    head = await eve.client.head(address, headers=JPEG_ONLY)

    assert whole.headers["cache-control"] == "public, max-age=86400, s-maxage=60"
    assert whole.headers["etag"].startswith('"')
    assert whole.headers["accept-ranges"] == "bytes"
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-length", "etag", "last-modified", "content-type", "cache-control"):
        assert head.headers[name] == whole.headers[name]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("bytes=10-99", slice(10, 100)),
        ("bytes=100-", slice(100, None)),
        ("bytes=-50", slice(-50, None)),
        ("bytes=0-99999999", slice(0, None)),
        ("bytes=-99999999", slice(0, None)),
    ],
)
async def test_a_range_request_returns_just_that_range(eve: Person, wanted: str, expected: slice) -> None:
    address = await posted(eve)
    whole = (await eve.client.get(address, headers=JPEG_ONLY)).content

    answer = await eve.client.get(address, headers={**JPEG_ONLY, "Range": wanted})

    first = expected.indices(len(whole))[0]
    assert answer.status_code == 206
    assert answer.content == whole[expected]
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(answer.content) - 1}/{len(whole)}"


@pytest.mark.parametrize("wanted", ["bytes=99999999-", "bytes=-0"])
async def test_a_range_beyond_the_end_is_a_416(eve: Person, wanted: str) -> None:
    answer = await eve.client.get(await posted(eve), headers={**JPEG_ONLY, "Range": wanted})

    assert answer.status_code == 416
    assert answer.headers["content-range"].startswith("bytes */")


@pytest.mark.parametrize("wanted", ["bytes=0-1,5-6", "lines=1-2", "bytes=5-2", "bytes=-", "nonsense"])
async def test_an_unsupported_range_gets_the_whole_file(eve: Person, wanted: str) -> None:
    answer = await eve.client.get(await posted(eve), headers={**JPEG_ONLY, "Range": wanted})

    assert answer.status_code == 200


async def test_a_cached_file_is_not_sent_again(eve: Person) -> None:
    address = await posted(eve)
    first = (await eve.client.get(address, headers=JPEG_ONLY)).headers
    day_before = "Mon, 01 Jan 2024 00:00:00 GMT"

    answers: dict[int, list[dict[str, str]]] = {
        304: [
            {"If-None-Match": first["etag"]},
            {"If-None-Match": f'"other", W/{first["etag"]}'},
            {"If-None-Match": "*"},
            {"If-Modified-Since": first["last-modified"]},
        ],
        200: [
            {"If-None-Match": '"other"'},
            {"If-None-Match": '"other"', "If-Modified-Since": first["last-modified"]},
            {"If-Modified-Since": day_before},
            {"If-Modified-Since": "when hell freezes over"},
            {"Range": "bytes=0-9", "If-Range": '"other"'},
            {"Range": "bytes=0-9", "If-Range": day_before},
        ],
        206: [
            {"Range": "bytes=0-9", "If-Range": first["etag"]},
            {"Range": "bytes=0-9", "If-Range": first["last-modified"]},
        ],
    }

    for status, questions in answers.items():
        for question in questions:
            answer = await eve.client.get(address, headers={**JPEG_ONLY, **question})
            assert answer.status_code == status, question


async def test_an_avatar_may_be_cached_for_an_hour_and_a_story_until_it_ends(
    eve: Person, installation: Rooms
) -> None:
    files = {"file": ("a.jpg", photo(), "image/jpeg")}
    avatar = (await eve.call("POST", "/media/upload", files=files, data={"kind": "avatar"})).json()
    shown = await eve.call("PUT", "/accounts/me/avatar", json={"media_id": avatar["media_id"]})
    upload = (await eve.call("POST", "/media/upload", files=files, data={"kind": "story"})).json()
    story = (await eve.call("POST", "/stories", json={"media_id": upload["media_id"]})).json()
    ends = "UPDATE media SET ends_at = now() + interval '30 seconds' WHERE id = {id}"
    await on_its_shard(installation, upload["media_id"], ends)

    urls = shown.json()["profile_pic_url"], story["media"]["url"]
    kept = [(await eve.client.get(url)).headers["cache-control"] for url in urls]

    assert kept[0] == "public, max-age=3600, s-maxage=60"
    browser_s, edge_s = [int(part.split("=")[1]) for part in kept[1].removeprefix("public, ").split(", ")]
    assert 10 <= browser_s == edge_s <= 30


async def test_malformed_paths_are_not_found(eve: Person, installation: Rooms) -> None:
    address = await posted(eve)
    folder = address.removeprefix("/media/").rsplit("/", 1)[0]
    await storage_of(installation).put("secret.jpg", b"not for you")
    odd = [
        "",
        "secret.jpg",
        "../secret.jpg",
        "%2e%2e/secret.jpg",
        "%252e%252e%252fsecret.jpg",
        f"{folder}/../../../secret.jpg",
        f"{folder}/..%2f..%2fsecret.jpg",
        f"{folder}/1080.jpg%00",
        f"{folder}/1080.jpg%00.png",
        f"{folder}//1080.jpg/x.jpg",
        f"{folder}/1080.php",
        f"{folder}/nothing.jpg",
        f"{folder}\\1080.jpg",
        f"private/{folder}/original",
        f"private/{folder}/exif.json",
        f"incoming/{folder}/1080.jpg",
        f"{folder[:-1]}{'y' if folder.endswith('x') else 'x'}/1080.jpg",
        f"99999999999999999999/{folder.split('/')[1]}/1080.jpg",
        f"{folder.split('/')[0]}/9223372036854775807-AAAAAAAAAAAAAAAA/1080.jpg",
        f"{quote(chr(0xFF11))}/3-AAAAAAAAAAAAAAAA/1080.jpg",
        "~1.x/" + folder + "/1080.jpg",
        "%ff%fe/1080.jpg",
    ]

    answers: list[tuple[str, Any]] = [(each, await eve.client.get(f"/media/{each}")) for each in odd]

    assert [(each, answer.status_code) for each, answer in answers if answer.status_code != 404] == []
    assert (await eve.client.post(address)).status_code == 405


async def test_without_a_cached_access_record_the_shard_is_read(eve: Person, installation: Rooms) -> None:
    address = await posted(eve)
    await installation.redis.flushdb()

    assert (await eve.client.get(address)).status_code == 200
