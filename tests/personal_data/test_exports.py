import io
import json
import os
import shutil
import zipfile
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.personal_data.fake_holder import FakeHolder, Killed
from tests.support import Person, eventually
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.media import MediaNotFound
from tintype.personal_data import ExportRequested
from tintype.personal_data.exports import Exports
from tintype.wiring import Rooms
from tintype.worker import Worker

AGE = Query.parse(
    "age",
    "UPDATE exports SET expires_at = now() - interval '1 hour', touched_at = now() - interval '1 day' WHERE id = :id",
)


def exports_with(rooms: Rooms, **holders: FakeHolder) -> Exports:
    return Exports(rooms.personal_data._exports._deps, holders)


async def request_export(person: Person) -> dict[str, Any]:
    answer = await person.call("POST", "/accounts/me/exports")
    assert answer.status_code == 202, answer.text
    return answer.json()


async def get_export(person: Person, made: dict[str, Any]) -> dict[str, Any]:
    return (await person.call("GET", f"/accounts/me/exports/{made['export_id']}")).json()


async def download(person: Person, made: dict[str, Any]) -> zipfile.ZipFile:
    answer = await person.call("GET", f"/accounts/me/exports/{made['export_id']}/file")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(answer.content))


def event_of(person: Person, made: dict[str, Any]) -> ExportRequested:
    return ExportRequested(AccountId(int(person.account_id)), int(made["export_id"]))


@pytest.mark.slow
async def test_an_archive_has_the_data_of_all_rooms_and_its_media(working: Worker, ana: Person) -> None:
    await ana.call("POST", "/search/recent", json={"kind": "words", "subject": "sea"})
    media_id = (await ana.upload()).json()["media_id"]
    made = await request_export(ana)

    async def is_ready() -> bool:
        return (await get_export(ana, made))["state"] == "ready"

    await eventually(is_ready, what="the archive is ready")
    archive = await download(ana, made)
    assert json.loads(archive.read("recent_searches.json")) == [{"kind": "words", "subject": "sea"}]
    assert json.loads(archive.read("account.json"))
    upload = json.loads(archive.read("uploads.json"))[0]
    assert upload["media_id"] == media_id
    pictures = [name for name in archive.namelist() if name.startswith(upload["file"])]
    assert len(pictures) == 1
    assert archive.read(pictures[0])[:2] == b"\xff\xd8"


async def test_only_its_owner_can_download_an_archive(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    made = await request_export(ana)
    waiting = await ana.call("GET", f"/accounts/me/exports/{made['export_id']}/file")
    await rooms.personal_data.make_export(event_of(ana, made))

    for path in (
        f"/accounts/me/exports/{made['export_id']}",
        f"/accounts/me/exports/{made['export_id']}/file",
    ):
        answer = await bo.call("GET", path)
        assert (answer.status_code, answer.json()["code"]) == (404, "export_not_found")
        assert (await client.get(f"/api/v1{path}")).status_code == 401
    assert waiting.status_code == 404
    assert (await bo.call("GET", "/accounts/me/exports")).json() == {"exports": []}
    assert len((await ana.call("GET", "/accounts/me/exports")).json()["exports"]) == 1


async def test_only_one_export_is_made_at_a_time(rooms: Rooms, ana: Person) -> None:
    made = await request_export(ana)

    again = await ana.call("POST", "/accounts/me/exports")
    assert (again.status_code, again.json()["code"]) == (409, "export_under_way")
    await rooms.personal_data.make_export(event_of(ana, made))
    assert (await request_export(ana))["export_id"] != made["export_id"]


async def test_an_export_killed_in_the_middle_starts_over(rooms: Rooms, ana: Person) -> None:
    made = await request_export(ana)
    exports = exports_with(rooms, holder=FakeHolder(500, dies_at=350))

    with pytest.raises(Killed):
        await exports.make(event_of(ana, made))
    halfway = await get_export(ana, made)
    await exports.make(event_of(ana, made))
    await exports.make(event_of(ana, made))

    assert (halfway["state"], halfway["room"], halfway["records"]) == ("running", "holder", 200)
    ready = await get_export(ana, made)
    assert (ready["state"], ready["records"]) == ("ready", 500)
    assert len(json.loads((await download(ana, made)).read("things.json"))) == 500
    assert list(exports._deps.work_folder.iterdir()) == []


async def test_an_expired_archive_is_gone_with_its_file(rooms: Rooms, ana: Person) -> None:
    made = await request_export(ana)
    exports = rooms.personal_data._exports
    await exports.make(event_of(ana, made))
    export = await exports.get(AccountId(int(ana.account_id)), int(made["export_id"]))
    await rooms.shards.owner(export.id).execute(AGE, id=export.id)

    assert (await ana.call("GET", f"/accounts/me/exports/{export.id}")).status_code == 404
    await exports.delete_expired()

    with pytest.raises(MediaNotFound):
        await exports._deps.storage.open(export.path)
    assert await exports.count_left(AccountId(int(ana.account_id))) == 0


async def test_an_export_whose_job_died_does_not_prevent_the_next(rooms: Rooms, ana: Person) -> None:
    made = await request_export(ana)
    await rooms.shards.owner(int(made["export_id"])).execute(AGE, id=int(made["export_id"]))

    await rooms.personal_data.delete_expired_exports()

    assert (await request_export(ana))["state"] == "waiting"


async def test_a_new_archive_replaces_the_earlier_one(rooms: Rooms, ana: Person) -> None:
    exports, account_id = rooms.personal_data._exports, AccountId(int(ana.account_id))
    first = await request_export(ana)
    await exports.make(event_of(ana, first))
    earlier = await exports.get(account_id, int(first["export_id"]))
    second = await request_export(ana)
    still = await get_export(ana, first)

    await exports.make(event_of(ana, second))

    assert still["state"] == "ready"
    assert [each.id for each in await exports.list_of(account_id)] == [int(second["export_id"])]
    with pytest.raises(MediaNotFound):
        await exports._deps.storage.open(earlier.path)


async def test_a_few_exports_a_day_are_made(rooms: Rooms, ana: Person) -> None:
    for _ in range(5):
        await rooms.personal_data.make_export(event_of(ana, await request_export(ana)))

    refused = await ana.call("POST", "/accounts/me/exports")

    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert refused.headers["RateLimit-Policy"] == '"export";q=5;w=86400'


async def test_what_a_killed_worker_left_behind_is_deleted(rooms: Rooms) -> None:
    folder = rooms.personal_data._exports._deps.work_folder
    old, fresh = folder / "export-old", folder / "export-fresh"
    for each in (old, fresh):
        each.mkdir(parents=True)
        (each / "export.zip").write_bytes(b"half an archive")
    os.utime(old, (0, 0))

    await rooms.personal_data.delete_expired_exports()

    assert (old.exists(), fresh.exists()) == (False, True)
    shutil.rmtree(fresh)


async def test_an_export_does_not_fill_the_disk(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ana.upload()
    made = await request_export(ana)
    monkeypatch.setattr("tintype.personal_data.exports.MIN_FREE_BYTES", 1 << 60)

    with pytest.raises(Unavailable):
        await rooms.personal_data.make_export(event_of(ana, made))

    assert list(rooms.personal_data._exports._deps.work_folder.iterdir()) == []
