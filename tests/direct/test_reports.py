"""Reports of messages and conversations: moderators see what a member reports, and nothing more."""

from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

from tests.direct.support import (
    Device,
    code,
    id_of,
    open_group,
    open_pair,
    query,
    status,
    texts,
    thread_of,
)
from tests.direct.test_media import last
from tests.direct.test_voice_messages import upload as upload_voice
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


def report(kind: str, object_id: str) -> dict[str, Any]:
    return {"json": {"kind": kind, "object_id": object_id, "reason": "bullying"}}


async def case_of(moderator: Person, kind: str) -> dict[str, Any]:
    answer = await moderator.call("GET", "/moderation/cases", params={"kind": kind})
    assert answer.status_code == 200, answer.text
    return answer.json()["cases"][0]


async def test_a_reported_message_is_kept_as_evidence_and_a_moderator_can_delete_it(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    await rooms.accounts.set_role(id_of(cy), "moderator")
    thread_id, device = await open_pair(ana, bo), Device(ana)
    await device.send(thread_id, "not reported")
    message_id = (await device.send(thread_id, "something mean"))["message_id"]

    assert await code(ana.call("POST", "/reports", **report("message", message_id))) == "own_object"
    assert await status(cy, "POST", "/reports", **report("message", message_id)) == 404
    assert await status(bo, "POST", "/reports", **report("message", message_id)) == 204

    case = await case_of(cy, "message")
    assert (case["owner"]["username"], case["evidence_text"]) == ("ana", "something mean")
    act = {"action": "delete", "reason": "bullying"}
    assert await status(cy, "POST", f"/moderation/cases/{case['case_id']}/acts", json=act) < 300
    assert await texts(bo, thread_id) == ["not reported", ""]
    assert (await case_of_closed(cy, case["case_id"]))["evidence_text"] == "something mean"


async def case_of_closed(moderator: Person, case_id: str) -> dict[str, Any]:
    answer = await moderator.call("GET", f"/moderation/cases/{case_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()["case"]


async def test_a_reported_conversation_shows_what_the_other_wrote_and_nothing_of_others(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    await rooms.accounts.set_role(id_of(cy), "moderator")
    thread_id = await open_group(ana, bo)
    await Device(ana).send(thread_id, "mean")
    await Device(bo).send(thread_id, "please stop")

    assert await status(cy, "POST", "/reports", **report("thread", thread_id)) == 404
    assert await status(bo, "POST", "/reports", **report("thread", thread_id)) == 204

    case = await case_of(cy, "thread")
    assert (case["owner"]["username"], case["evidence_text"]) == ("ana", "mean")


async def decide(moderator: Person, case: dict[str, Any], action: str) -> None:
    act = {"action": action, "reason": "seen"}
    assert await status(moderator, "POST", f"/moderation/cases/{case['case_id']}/acts", json=act) < 300


@pytest.mark.parametrize("way", ["unsent", "expired", "deleted by the moderator"])
async def test_a_reported_photo_is_kept_for_moderators_alone_until_the_case_is_closed(
    friends: Friends, rooms: Rooms, client: AsyncClient, way: str
) -> None:
    ana, bo, cy = friends
    await rooms.accounts.set_role(id_of(cy), "moderator")
    thread_id, device = await open_pair(ana, bo), Device(ana)
    media_id = (await ana.upload()).json()["media_id"]
    message_id = (await device.send(thread_id, "mean", media_id=media_id))["message_id"]
    url = (await last(bo, thread_id))["media"]["url"]
    assert await status(bo, "POST", "/reports", **report("message", message_id)) == 204
    case = await case_of(cy, "message")
    [evidence] = case["evidence_urls"]

    if way == "unsent":
        assert await device.put(thread_id, f"{message_id}/unsent") == 204
    elif way == "expired":
        await query(rooms, thread_of(thread_id), "UPDATE messages SET expires_at = now()")
        await rooms.direct.sweep()
    if way == "deleted by the moderator":
        assert (await client.get(evidence)).status_code == 200
        await decide(cy, case, "delete")
    else:
        assert (await client.get(url)).status_code == 404
        own = {"Authorization": f"Bearer {ana.token}"}
        assert (await client.get("/media/" + url.split("/", 3)[3], headers=own)).status_code == 404
        assert (await client.get(evidence)).status_code == 200
        await rooms.moderation.schedules()[0].run()  # the case is open
        assert (await client.get(evidence)).status_code == 200
        await decide(cy, case, "dismiss")

    assert (await client.get(url)).status_code == 404
    assert (await client.get(evidence)).status_code == 404
    assert await query(rooms, id_of(ana), "SELECT FROM message_media") == []


async def test_a_photo_of_a_dismissed_report_stays_with_its_message(
    friends: Friends, rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo, cy = friends
    await rooms.accounts.set_role(id_of(cy), "moderator")
    thread_id = await open_pair(ana, bo)
    media_id = (await ana.upload()).json()["media_id"]
    await Device(ana).send(thread_id, "fine", media_id=media_id)
    assert await status(bo, "POST", "/reports", **report("thread", thread_id)) == 204

    await decide(cy, await case_of(cy, "thread"), "dismiss")

    assert (await client.get((await last(bo, thread_id))["media"]["url"])).status_code == 200
    held = await query(rooms, id_of(ana), "SELECT held_for FROM message_media")
    assert [list(row["held_for"]) for row in held] == [[]]


async def test_two_cases_keep_a_recording_until_both_are_closed(
    friends: Friends, rooms: Rooms, client: AsyncClient, tmp_path: Path
) -> None:
    ana, bo, cy = friends
    await rooms.accounts.set_role(id_of(cy), "moderator")
    thread_id, device = await open_pair(ana, bo), Device(ana)
    voice = await upload_voice(ana, tmp_path)
    message_id = (await device.send(thread_id, "", media_id=voice))["message_id"]
    for kind, object_id in (("message", message_id), ("thread", thread_id)):
        assert await status(bo, "POST", "/reports", **report(kind, object_id)) == 204
    first, second = await case_of(cy, "message"), await case_of(cy, "thread")
    [heard] = first["evidence_voices"]
    assert await device.put(thread_id, f"{message_id}/unsent") == 204

    await decide(cy, first, "dismiss")
    assert (await client.get(heard)).status_code == 200
    await decide(cy, second, "warn")
    assert (await client.get(heard)).status_code == 404


async def test_what_is_kept_for_no_case_is_let_go_and_erasure_waits_for_none(
    friends: Friends, rooms: Rooms, client: AsyncClient
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    ids = [(await ana.upload()).json()["media_id"] for _ in range(2)]
    sent = [await device.send(thread_id, "x", media_id=each) for each in ids]
    await query(rooms, id_of(ana), "UPDATE message_media SET held_for = ARRAY['message:17']")
    assert await device.put(thread_id, f"{sent[0]['message_id']}/unsent") == 204
    assert len(await query(rooms, id_of(ana), "SELECT FROM message_media")) == 2

    await rooms.moderation.schedules()[0].run()  # a process died between the two
    assert len(await query(rooms, id_of(ana), "SELECT FROM message_media")) == 1

    await query(rooms, id_of(ana), "UPDATE message_media SET held_for = ARRAY['message:17']")
    while await rooms.direct.personal_data.erase(id_of(ana)):
        pass
    assert await query(rooms, id_of(ana), "SELECT FROM message_media") == []
