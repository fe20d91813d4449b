"""Imports in the app, over HTTP: uploads that continue, the report, cancelling, limits, and what is kept."""

import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from shardwright.routing import Query
from tests.application import serve
from tests.imports.archives import at, media, note, picture, write_zip
from tests.imports.member_imports import (
    BYTES,
    NEW,
    TUS,
    announce,
    begin,
    instagram,
    report,
    send,
    show,
    start,
    upload_and_start,
)
from tests.posts.people import id_of
from tests.support import Person, join, on_server
from tintype.imports import ImportEnded, ImportRequested
from tintype.imports.dependencies import FOLDER
from tintype.imports.jobs import MAX_ATTEMPTS
from tintype.wiring import Rooms, build_rooms

AGE = Query.parse(
    "age_import",
    "UPDATE imports SET touched_at = touched_at - interval '3 days', ended_at = ended_at - interval '40 days' "
    "WHERE id = :id",
)

STOPPED_LONG_AGO = Query.parse(
    "stop_long_ago", "UPDATE imports SET ended_at = ended_at - interval '8 days' WHERE id = :id"
)


async def stored(rooms: Rooms, person: Person) -> list[str]:
    """The parts of somebody's archives in the object store."""
    folder = f"{FOLDER}/{person.account_id}"
    return [each.path async for each in rooms.media.storage.list_objects(folder)]


async def wall(person: Person) -> list[dict[str, Any]]:
    answer = await person.call("GET", f"/accounts/{person.account_id}/posts", params={"limit": 50})
    return answer.json()["posts"]


async def run_now(rooms: Rooms, person: Person, import_id: str) -> dict[str, Any]:
    """Run an import in this process, as a worker would."""
    await rooms.imports.run(ImportRequested(id_of(person), int(import_id)))
    return await show(person, import_id)


@pytest.fixture
async def small(rooms: Rooms) -> Rooms:
    """Rooms whose imports may have a megabyte."""
    settings = msgspec.structs.replace(rooms.settings, import_mb=1)
    return build_rooms(settings, rooms.shards, rooms.redis, rooms.nats)


@pytest.mark.slow
async def test_archives_become_posts_and_a_report_and_are_deleted(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    extra = {
        f"{NEW}/stories.json": {"ig_stories": [media("media/stories/s.jpg", at(2018))]},
        "media/stories/s.jpg": picture(50),
        "media/posts/stray.jpg": picture(51),
        "connections/followers_and_following/following.json": {
            "relationships_following": [{"string_list_data": [{"value": "ana"}]}]
        },
    }
    first = instagram(tmp_path / "one.zip", 3, extra)
    second = write_zip(
        tmp_path / "two.zip",
        {
            f"{NEW}/posts_2.json": [
                {
                    "media": [media("media/posts/a.jpg"), media("media/posts/b.jpg")],
                    "creation_timestamp": at(2019),
                }
            ],
            "media/posts/a.jpg": picture(60),
            "media/posts/b.jpg": b"GIF89a",
        },
    )

    import_id = await upload_and_start(ana, first, second, with_stories=False)
    ended = await run_now(rooms, ana, import_id)
    await rooms.imports.delete_archives(_ended(ana, import_id))

    assert (ended["state"], ended["reason_code"]) == ("done", "")
    assert (ended["total"], ended["done"], ended["imported"], ended["already_imported"]) == (4, 4, 4, 0)
    assert [each["created_at"][:10] for each in await wall(ana)] == [
        "2020-01-03",
        "2020-01-02",
        "2020-01-01",
        "2019-01-01",
    ]
    lines = await report(ana, import_id)
    assert {each["name"]: each["code"] for each in lines} == {
        "media/posts/stray.jpg": "unnamed",
        f"{NEW}/stories.json no. 1": "story_unwanted",
        f"{NEW}/posts_2.json no. 1: media/posts/b.jpg": "media_unsupported",
    }
    assert ended["skipped"] == len(lines)
    assert ended["following_here"] == ["ana"]

    assert await stored(rooms, ana) == []
    assert (await show(ana, import_id))["archives"] == []

    again = await run_now(rooms, ana, await upload_and_start(ana, first, with_stories=False))
    assert (again["state"], again["imported"], again["already_imported"]) == ("done", 0, 3)


async def test_an_interrupted_upload_continues_where_it_ended(ana: Person, bo: Person) -> None:
    import_id = await begin(ana)
    made = await announce(ana, import_id, "../../etc/archive.zip", 10)
    path = made.headers["location"].removeprefix("/api/v1")
    await ana.call("PATCH", path, headers=BYTES | {"Upload-Offset": "0"}, content=b"01234")

    wrong = await ana.call("PATCH", path, headers=BYTES | {"Upload-Offset": "3"}, content=b"34567")
    offset = await ana.call("HEAD", path, headers=TUS)
    too_much = await ana.call("PATCH", path, headers=BYTES | {"Upload-Offset": "5"}, content=b"5" * 9)
    early = await start(ana, import_id)
    rest = await ana.call("PATCH", path, headers=BYTES | {"Upload-Offset": "5"}, content=b"56789")
    others = await bo.call("HEAD", path, headers=TUS)

    assert (wrong.status_code, wrong.json()["code"]) == (409, "upload_offset_wrong")
    assert (offset.headers["upload-offset"], offset.headers["upload-length"]) == ("5", "10")
    assert too_much.status_code == 413
    assert (early.status_code, early.json()["code"]) == (409, "import_incomplete")
    assert (rest.status_code, rest.headers["upload-offset"]) == (204, "10")
    assert others.status_code == 404
    (archive,) = (await show(ana, import_id))["archives"]
    assert (archive["name"], archive["received_bytes"]) == ("archive.zip", 10)
    assert (await start(ana, import_id)).status_code == 202
    assert (await start(ana, import_id)).status_code == 202, "starting is safe to repeat"
    assert (
        await ana.call("PATCH", path, headers=BYTES | {"Upload-Offset": "10"}, content=b"")
    ).status_code == 404


async def test_one_import_at_a_time_and_cancelling_makes_room(rooms: Rooms, ana: Person) -> None:
    first = await begin(ana)
    await send(ana, first, "a.zip", b"0123456789")

    refused = await ana.call("POST", "/imports", json={"source": "mastodon"})
    cancelled = await ana.call("POST", f"/imports/{first}/cancel")
    await rooms.imports.delete_archives(_ended(ana, first))

    assert (refused.status_code, refused.json()["code"]) == (409, "import_under_way")
    assert cancelled.json()["state"] == "cancelled"
    assert await stored(rooms, ana) == []
    assert (await start(ana, first)).json()["code"] == "import_started"
    assert (await announce(ana, first, "b.zip", 9)).json()["code"] == "import_started"
    await begin(ana, "mastodon")
    assert [each["state"] for each in (await ana.call("GET", "/imports")).json()["imports"]] == [
        "uploading",
        "cancelled",
    ]


async def test_archives_have_limits_of_size_and_number(small: Rooms) -> None:
    async with serve(small) as client:
        eve = await join(client, "eve")
        import_id = await begin(eve)

        half = await announce(eve, import_id, "a.zip", 600_000)
        over = await announce(eve, import_id, "b.zip", 600_000)
        nothing = await announce(eve, import_id, "c.zip", 0)
        for number in range(49):
            assert (await announce(eve, import_id, f"{number}.zip", 9)).status_code == 201
        many = await announce(eve, import_id, "last.zip", 9)

        assert half.status_code == 201
        assert [each.json()["code"] for each in (over, nothing)] == ["archive_too_large"] * 2
        assert (many.status_code, many.json()["code"]) == (409, "too_many_archives")


async def test_imports_can_be_switched_off(rooms: Rooms) -> None:
    settings = msgspec.structs.replace(rooms.settings, import_mb=0)
    async with serve(build_rooms(settings, rooms.shards, rooms.redis, rooms.nats)) as client:
        eve = await join(client, "eve")
        refused = await eve.call("POST", "/imports", json={"source": "instagram"})

        assert (refused.status_code, refused.json()["code"]) == (403, "imports_off")
        assert (await eve.call("GET", "/imports")).json() == {"imports": [], "max_bytes": 0}


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.zip", b"neither zip nor tar", "archive_invalid"),
        ("html.zip", {"index.html": b"<html>", "content/posts_1.html": b"<html>"}, "archive_is_html"),
        ("other.zip", {"notes.txt": b"nothing"}, "archive_invalid"),
    ],
)
async def test_what_is_no_archive_ends_the_import_with_the_reason(
    rooms: Rooms, ana: Person, tmp_path: Path, name: str, content: Any, code: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content) if isinstance(content, bytes) else write_zip(path, content)

    ended = await run_now(rooms, ana, await upload_and_start(ana, path))

    assert (ended["state"], ended["reason_code"]) == ("failed", code)
    assert str(rooms.settings.home) not in ended["reason"]


async def test_an_archive_that_unpacks_to_gigabytes_ends_its_import_and_nothing_else(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    """A list of ninety million numbers is 180 MB of JSON, and some gigabytes once it is parsed."""
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{NEW}/posts_1.json", "w") as file,
    ):
        file.write(b"[0")
        for _ in range(90):
            file.write(b",0" * 1_000_000)
        file.write(b"]")

    ended = await run_now(rooms, ana, await upload_and_start(ana, path))

    assert (ended["state"], ended["reason_code"]) == ("failed", "archive_too_costly")


async def test_a_tar_file_that_unpacks_to_too_much_ends_its_import(small: Rooms, tmp_path: Path) -> None:
    path = tmp_path / "bomb.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(3):
            member = tarfile.TarInfo(f"{number}")
            member.size = 1 << 20
            archive.addfile(member, io.BytesIO(bytes(1 << 20)))
    async with serve(small) as client:
        eve = await join(client, "eve")

        ended = await run_now(small, eve, await upload_and_start(eve, path, source="mastodon"))

    assert (ended["state"], ended["reason_code"]) == ("failed", "archive_invalid")
    assert list((small.settings.home / "imports").iterdir()) == []


@pytest.mark.slow
async def test_pixelfed_s_list_and_its_pictures_come_as_two_files(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    outbox = tmp_path / "outbox.json"
    document = {"type": "Image", "url": "https://pixel.example/storage/m/one.png", "name": "A boat"}
    outbox.write_text(json.dumps({"orderedItems": [note(1, attachments=[document], content="<p>Sea</p>")]}))
    pictures = write_zip(tmp_path / "pictures.zip", {"m/one.png": picture(1, "PNG")})

    ended = await run_now(rooms, ana, await upload_and_start(ana, outbox, pictures, source="pixelfed"))

    assert (ended["state"], ended["imported"], ended["skipped"]) == ("done", 1, 0)
    (post,) = await wall(ana)
    assert (post["caption"], post["media"][0]["alt_text"]) == ("Sea", "A boat")


@pytest.mark.slow
async def test_a_full_storage_stops_the_import_and_the_report_names_what_is_missing(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    import_id = await upload_and_start(ana, instagram(tmp_path / "a.zip", 3))
    await rooms.media.usage.set_quota(id_of(ana), 1)

    ended = await run_now(rooms, ana, import_id)

    assert (ended["state"], ended["reason_code"], ended["imported"]) == ("stopped", "storage_full", 0)
    assert [each["code"] for each in await report(ana, import_id)] == ["not_reached"] * 3


@pytest.mark.slow
async def test_an_import_that_stopped_goes_on_when_there_is_room(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    import_id = await stop_at_quota(rooms, ana, tmp_path)
    await rooms.imports.delete_old()
    stopped = await show(ana, import_id)
    assert len(stopped["archives"]) == 1
    assert stopped["kept_until"] > stopped["ended_at"]

    await rooms.media.usage.set_quota(id_of(ana), None)
    assert (await start(ana, import_id)).status_code == 202
    assert (await begin_again(ana)).json()["code"] == "import_under_way"
    ended = await run_now(rooms, ana, import_id)

    assert (ended["state"], ended["imported"], ended["skipped"]) == ("done", 3, 0)
    assert (ended["reason_code"], ended["kept_until"], ended["archives"]) == ("", None, [])
    assert await report(ana, import_id) == []
    assert (await start(ana, import_id)).json()["code"] == "import_started"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cancelled", "a new import", "a week later"])
async def test_archives_of_an_import_that_stopped_are_kept_for_a_week_unless_they_are_given_up(
    rooms: Rooms, ana: Person, tmp_path: Path, how: str
) -> None:
    import_id = await stop_at_quota(rooms, ana, tmp_path)
    assert await stored(rooms, ana)

    if how == "cancelled":
        await rooms.imports.cancel(id_of(ana), int(import_id))
    elif how == "a new import":
        assert (await begin_again(ana)).status_code == 201
    else:
        await rooms.shards.owner(int(import_id)).execute(STOPPED_LONG_AGO, id=int(import_id))
        await rooms.imports.delete_old()

    shown = await show(ana, import_id)
    assert (shown["state"], shown["archives"], shown["kept_until"]) == ("stopped", [], None)
    assert (await start(ana, import_id)).json()["code"] == "import_started"
    await rooms.imports.delete_old()
    assert await stored(rooms, ana) == []


async def stop_at_quota(rooms: Rooms, person: Person, folder: Path) -> str:
    """An import of three posts that stopped because storage was full."""
    import_id = await upload_and_start(person, instagram(folder / "a.zip", 3))
    await rooms.media.usage.set_quota(id_of(person), 1)
    assert (await run_now(rooms, person, import_id))["state"] == "stopped"
    return import_id


async def begin_again(person: Person) -> Any:
    return await person.call("POST", "/imports", json={"source": "folder"})


@pytest.mark.slow
async def test_a_cancelled_run_stops_at_the_next_post(rooms: Rooms, ana: Person, tmp_path: Path) -> None:
    import_id = await upload_and_start(ana, instagram(tmp_path / "a.zip", 6))
    publish = rooms.posts.publish_imported

    async def publish_and_cancel(*arguments: Any) -> Any:
        published = await publish(*arguments)
        await rooms.imports.cancel(id_of(ana), int(import_id))
        return published

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rooms.posts, "publish_imported", publish_and_cancel)
        patch.setattr("tintype.imports.progress.EVERY_S", 0.0)
        ended = await run_now(rooms, ana, import_id)

    assert ended["state"] == "cancelled"
    assert len(await wall(ana)) == 1
    assert list((rooms.settings.home / "imports").iterdir()) == []


async def test_lost_jobs_are_queued_again_and_uploads_that_nobody_continues_end(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    waiting, uploading = await begin(ana), await begin(bo)
    await send(ana, waiting, "a.zip", b"no archive")
    await send(bo, uploading, "a.zip", b"no archive")
    await start(ana, waiting)
    for person, each in ((ana, waiting), (bo, uploading)):
        await rooms.shards.owner(id_of(person)).execute(AGE, id=int(each))
    before = await _queued(rooms, waiting)

    await rooms.imports.restart_lost()

    assert await _queued(rooms, waiting) == before + 1
    given_up = await show(bo, uploading)
    assert (given_up["state"], given_up["reason_code"]) == ("cancelled", "upload_expired")
    await rooms.imports.delete_archives(_ended(bo, uploading))
    assert await stored(rooms, bo) == []


async def test_an_import_that_never_gets_further_is_given_up(rooms: Rooms, ana: Person) -> None:
    import_id = await upload_empty(ana)
    for _ in range(MAX_ATTEMPTS):
        await _claim(rooms, import_id)

    ended = await run_now(rooms, ana, import_id)

    assert (ended["state"], ended["reason_code"]) == ("failed", "unavailable")


async def test_old_reports_and_forgotten_parts_are_deleted(rooms: Rooms, ana: Person) -> None:
    import_id = await upload_empty(ana)
    await run_now(rooms, ana, import_id)
    await rooms.shards.owner(id_of(ana)).execute(AGE, id=int(import_id))
    await rooms.media.storage.put(f"{FOLDER}/{ana.account_id}/{import_id}/1/part", b"late")

    await rooms.imports.delete_old()

    assert (await ana.call("GET", f"/imports/{import_id}")).status_code == 404
    assert await stored(rooms, ana) == []


async def test_nothing_of_an_erased_person_s_imports_is_left(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    holder = rooms.imports.personal_data
    await run_now(rooms, ana, await upload_and_start(ana, write_zip(tmp_path / "a.zip", LISTED)))
    exported = [each.file async for each in holder.export(id_of(ana))]
    await send(ana, await begin(ana), "a.zip", b"0123456789")

    while await holder.erase(id_of(ana)):
        pass

    assert exported == ["imports", "import_lines", "import_lines"]
    assert await holder.count_left(id_of(ana)) == 0
    assert await stored(rooms, ana) == []


LISTED = {f"{NEW}/posts_1.json": [{"media": [media("media/posts/gone.jpg")]}], "notes.txt": b""}
CLAIM = Query.parse("claim", "UPDATE imports SET attempts = attempts + 1, state = 'running' WHERE id = :id")


async def upload_empty(person: Person) -> str:
    import_id = await begin(person)
    await send(person, import_id, "a.zip", b"no archive")
    await start(person, import_id)
    return import_id


async def _claim(rooms: Rooms, import_id: str) -> None:
    await rooms.shards.owner(int(import_id)).execute(CLAIM, id=int(import_id))


def _ended(person: Person, import_id: str) -> ImportEnded:
    return ImportEnded(id_of(person), int(import_id))


async def _queued(rooms: Rooms, import_id: str) -> int:
    """How often an import is in the outboxes."""
    sql = (
        "SELECT convert_from(payload, 'UTF8') AS payload FROM common.outbox WHERE event = 'import_requested'"
    )
    servers = [rooms.shards.primary_address(name) for name in rooms.shards.map.servers]
    rows = [row for dsn in servers for row in await on_server(dsn, sql)]
    return sum(import_id in row["payload"] for row in rows)
