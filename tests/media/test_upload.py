"""Photos on their way in, through HTTP, with the files in a directory and in S3."""

import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from PIL import Image

from tests.media.conftest import MakeInstallation, visiting
from tests.media.support import on_its_shard, paths_in, purge, stray_files
from tests.support import Person, eventually, photo
from tintype.wiring import Rooms

pytestmark = pytest.mark.usefixtures("real_pipeline")


def photo_with_place() -> bytes:
    """A photo that says where it was taken."""
    buffer = io.BytesIO()
    image = Image.linear_gradient("L").resize((400, 300)).convert("RGB")
    exif = Image.Exif()
    exif[0x010F] = "Tintype Works"
    place = exif.get_ifd(0x8825)
    place[1], place[2], place[3], place[4] = "N", (47.0, 22.0, 30.0), "E", (8.0, 32.0, 0.0)
    image.save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


async def send(person: Person, content: bytes, **fields: str) -> Any:
    files = {"file": ("../../etc/passwd\0.php", content, "text/html")}
    return await person.call("POST", "/media/upload", files=files, data=fields)


async def test_an_upload_returns_everything_a_post_needs(eve: Person, installation: Rooms) -> None:
    answer = await send(eve, photo(2000, 1500), media_type="image")

    body = answer.json()
    assert answer.status_code == 201
    assert (body["type"], body["state"], body["progress"]) == ("image", "ready", 100)
    assert (body["width"], body["height"]) == (1080, 810)
    assert body["placeholder"]
    assert body["expires_at"]
    for address in [*body["urls"].values(), *body["squares"].values()]:
        assert (await eve.client.get(address)).status_code == 200
    assert stray_files(installation) == []


async def test_files_are_stored_in_the_owners_folder_and_originals_separately(
    eve: Person, installation: Rooms
) -> None:
    body = (await send(eve, photo())).json()

    paths = await paths_in(installation)
    folder = f"{eve.account_id}/{body['media_id']}-"
    assert all(path.removeprefix("private/").startswith(folder) for path in paths)
    raw = [path.rsplit("/", 1)[1] for path in paths if path.startswith("private/")]
    assert raw == ["exif.json", "original"]


async def test_the_original_and_its_exif_are_for_the_owner_alone(
    eve: Person, mo: Person, installation: Rooms
) -> None:
    sent = photo_with_place()
    uploaded = (await send(eve, sent, keep_location="true")).json()
    media_id = uploaded["media_id"]

    original = await eve.call("GET", f"/media/{media_id}/original")
    exif = await eve.call("GET", f"/media/{media_id}/exif")
    foreign = [await mo.call("GET", f"/media/{media_id}{end}") for end in ("", "/original", "/exif")]
    served = [
        await eve.client.get(f"/media/{path}") for path in await paths_in(installation) if "private" in path
    ]

    assert uploaded["removed"] == []
    assert original.content == sent
    assert original.headers["cache-control"] == "private, no-store"
    assert exif.json()["location"]["latitude"] == pytest.approx(47.375)
    assert [answer.status_code for answer in [*foreign, *served]] == [404] * 5
    assert {answer.json()["code"] for answer in foreign} == {"media_not_found"}


async def test_the_location_is_removed_from_the_original_unless_kept_on_request(eve: Person) -> None:
    sent = photo_with_place()
    uploaded = (await send(eve, sent)).json()

    exif = await eve.call("GET", f"/media/{uploaded['media_id']}/exif")
    original = (await eve.call("GET", f"/media/{uploaded['media_id']}/original")).content

    kept = Image.open(io.BytesIO(original))
    assert uploaded["removed"] == ["location"]
    assert "location" not in exif.json()
    assert dict(kept.getexif().get_ifd(0x8825)) == {}
    assert kept.getexif()[0x010F] == "Tintype Works"
    assert kept.tobytes() == Image.open(io.BytesIO(sent)).tobytes()


async def test_an_edit_is_applied_and_a_bad_one_refused(eve: Person) -> None:
    plain = (await send(eve, photo(800, 600))).json()
    cropped = (await send(eve, photo(800, 600), edit=json.dumps({"crop": {"width": 0.5}}))).json()
    bad = [
        await send(eve, photo(), edit=edit)
        for edit in ('{"look": "no such look"}', "{", '{"crop": {"x": 9}}', "[" * 4000, '{"nonsense": 1}')
    ]

    assert (plain["width"], cropped["width"]) == (800, 400)
    assert {answer.status_code for answer in bad} == {400}


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 400, "media_refused"),
        (b"x", 400, "media_unsupported"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 400, "media_unsupported"),
        (photo(300, 200)[:2000], 400, "media_damaged"),
        (b"\0" * 5000, 400, "media_unsupported"),
    ],
)
async def test_a_file_that_is_no_photo_is_refused_and_leaves_nothing(
    eve: Person, installation: Rooms, content: bytes, status: int, code: str
) -> None:
    answer = await send(eve, content)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert await paths_in(installation) == []
    assert stray_files(installation) == []


async def test_a_photo_too_large_is_refused_before_it_has_all_arrived(
    make_installation: MakeInstallation,
) -> None:
    installation = make_installation(media_photo_bytes=50_000, media_video_bytes=10_000_000)
    sent = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + photo()[:5000]
        for _ in range(150):
            sent += 1
            yield b"x" * 65_536

    async with visiting(installation, "eve") as eve:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await eve.call("POST", "/media/upload", content=body(), headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (413, "media_too_large")
    assert stray_files(installation) == []


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=" + "x" * 500, b"--x--"),
        ("multipart/form-data; boundary=x", b"no form at all"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="edit"\r\n\r\n' + b"e" * 70_000 + b"\r\n--x--\r\n",
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\n' + photo() + b"\r\n",
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="k\xff"\r\n\r\n\xff\r\n' * 40,
        ),
    ],
    ids=["json", "no-boundary", "long-boundary", "no-form", "no-file", "long-field", "cut-short", "odd"],
)
async def test_a_malformed_form_is_refused(eve: Person, content_type: str, body: bytes) -> None:
    answer = await eve.call("POST", "/media/upload", content=body, headers={"Content-Type": content_type})

    assert (answer.status_code, answer.json()["code"]) == (400, "form_invalid")


async def test_a_file_of_another_type_than_declared_is_refused(eve: Person) -> None:
    answer = await send(eve, photo(), media_type="video")

    assert (answer.status_code, answer.json()["code"]) == (400, "media_refused")


@pytest.mark.slow
async def test_unposted_media_are_purged_after_a_day_files_and_all(
    eve: Person, installation: Rooms, busy: None
) -> None:
    posted = await eve.publish()
    forgotten = (await eve.upload()).json()
    await on_its_shard(
        installation, forgotten["media_id"], "UPDATE media SET expires_at = now() WHERE id = {id}"
    )

    await purge(installation)
    gone = await eve.client.get(forgotten["urls"]["1080"])

    async def is_removed() -> bool:
        return not [path for path in await paths_in(installation) if forgotten["media_id"] in path]

    assert gone.status_code == 404
    await eventually(is_removed, what="the files are gone")
    assert (await eve.client.get(posted["media"][0]["url"])).status_code == 200


async def test_an_upload_can_be_discarded_until_it_is_posted(eve: Person, mo: Person) -> None:
    waiting = (await eve.upload()).json()["media_id"]
    posted = (await eve.publish())["media"][0]["url"].split("/")[3].split("-")[0]

    foreign = await mo.call("DELETE", f"/media/{waiting}")
    dropped = await eve.call("DELETE", f"/media/{waiting}")
    kept = await eve.call("DELETE", f"/media/{posted}")

    assert (foreign.status_code, dropped.status_code, kept.status_code) == (404, 204, 409)
    answer = await eve.call("POST", "/posts", json={"media_ids": [waiting]})
    assert answer.json()["code"] == "media_invalid"


@pytest.mark.slow
async def test_a_photo_is_edited_again_without_being_sent_again(eve: Person) -> None:
    first = (await send(eve, photo(1200, 800))).json()
    path = f"/media/{first['media_id']}/edits"

    cut = await eve.call("POST", path, json={"edit": {"turns": 1, "crop": {"width": 0.5}, "look": "ferrous"}})
    plain = await eve.call("POST", path, json={"edit": None})

    assert cut.status_code == plain.status_code == 201
    assert cut.json()["media_id"] != first["media_id"]
    assert cut.json()["width"] / cut.json()["height"] == pytest.approx(400 / 1200, abs=0.01)
    assert (plain.json()["width"], plain.json()["height"]) == (first["width"], first["height"])
    assert (await eve.call("GET", f"/media/{first['media_id']}")).json()["state"] == "ready"


async def test_an_invalid_edit_makes_nothing(eve: Person) -> None:
    first = (await send(eve, photo(300, 200))).json()

    answer = await eve.call("POST", f"/media/{first['media_id']}/edits", json={"edit": {"look": "none such"}})

    assert (answer.status_code, answer.json()["code"]) == (400, "edit_invalid")
