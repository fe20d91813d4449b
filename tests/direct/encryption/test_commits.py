"""Commits: one per epoch, and what MLS says of members is what the server's rows say."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.direct.encryption import mls_messages as mls
from tests.direct.encryption.mls_messages import TestDevice
from tests.direct.encryption.support import (
    begin_group,
    code,
    get_group,
    open_thread,
    post_commit,
    register,
    send,
    send_commit,
)
from tests.direct.support import get_thread
from tests.support import Person

Friends = tuple[Person, Person, Person]


@pytest.fixture
async def devices(friends: Friends) -> Sequence[TestDevice]:
    return [await register(each) for each in friends]


async def members(person: Person, thread_id: str) -> set[str]:
    return {each["person"]["account_id"] for each in (await get_thread(person, thread_id))["members"]}


async def test_two_people_have_an_encrypted_thread_beside_the_plain_one(
    devices: Sequence[TestDevice],
) -> None:
    a, b, _ = devices
    plain = await a.person.call("POST", "/direct/threads", json={"account_ids": [b.person.account_id]})

    one, other = await asyncio.gather(open_thread(a, b.person), open_thread(b, a.person))

    thread_id = one.json()["thread_id"]
    assert thread_id == other.json()["thread_id"] != plain.json()["thread_id"]
    shown = await get_thread(a.person, thread_id)
    assert (shown["kind"], shown["is_encrypted"]) == ("pair", True)
    group = await get_group(a.person, thread_id)
    assert (group["group_number"], group["epoch"], len(group["leaves"])) == (1, 0, 1)
    assert {each["account_id"] for each in group["missing"]} | {group["leaves"][0]["account_id"]} == {
        a.person.account_id, b.person.account_id
    }  # fmt: skip


async def test_one_commit_wins_each_epoch(devices: Sequence[TestDevice]) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, c, name="")

    answers = await asyncio.gather(
        *(
            send_commit(each, thread_id, epoch=1, leaf_index=index, path=each.path())
            for index, each in enumerate(devices)
        )
    )

    assert sorted(each.status_code for each in answers) == [201, 409, 409]
    assert {code(each) for each in answers if each.status_code == 409} == {"epoch_taken"}
    assert (await get_group(a.person, thread_id))["epoch"] == 2
    params = {"device_id": a.device_id, "since": 0}
    found = await a.person.call("GET", f"/direct/threads/{thread_id}/encryption/commits", params=params)
    assert [each["epoch"] for each in found.json()["commits"]] == [0, 1]


async def test_a_repeated_commit_is_answered_as_the_first_time(devices: Sequence[TestDevice]) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    content = mls.text(mls.commit(thread_id, epoch=1, leaf_index=0, path=a.path()))

    first = await post_commit(a, thread_id, epoch=1, commit=content)
    again = await post_commit(a, thread_id, epoch=1, commit=content)

    assert (first.status_code, first.json()) == (201, again.json())
    assert first.json() == {"epoch": 2, "number": 0}


async def test_people_join_and_go_by_commits_of_admins_alone(devices: Sequence[TestDevice]) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, name="Herons")
    joined: Any = {"added": [c], "add_members": [c.person]}

    assert code(await send_commit(b, thread_id, epoch=1, leaf_index=1, **joined)) == "not_thread_admin"
    assert code(await send_commit(a, thread_id, epoch=1, leaf_index=0, added=[c])) == "commit_invalid"
    nobody: Any = {"add_members": [c.person]}
    assert code(await send_commit(a, thread_id, epoch=1, leaf_index=0, **nobody)) == "commit_invalid"
    assert (await send_commit(a, thread_id, epoch=1, leaf_index=0, **joined)).status_code == 201
    assert await members(b.person, thread_id) == {each.person.account_id for each in devices}

    gone: Any = {"removes": [2], "remove_members": [c.person]}
    assert code(await send_commit(b, thread_id, epoch=2, leaf_index=1, **gone)) == "not_thread_admin"
    assert code(await send_commit(a, thread_id, epoch=2, leaf_index=0, removes=[2])) == "commit_invalid"
    without: Any = {"remove_members": [c.person]}
    assert code(await send_commit(a, thread_id, epoch=2, leaf_index=0, **without)) == "commit_invalid"
    assert (await send_commit(a, thread_id, epoch=2, leaf_index=0, **gone)).status_code == 201
    assert await members(b.person, thread_id) == {a.person.account_id, b.person.account_id}
    assert (await c.person.call("GET", f"/direct/threads/{thread_id}/encryption")).status_code == 404


async def test_the_plain_ways_of_changing_members_and_messages_are_closed(
    devices: Sequence[TestDevice],
) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, name="")
    path = f"/direct/threads/{thread_id}"
    change = {"device_id": "x", "local_id": "y", "counter": 1}
    sent = (await send(a, thread_id, epoch=1)).json()["message_id"]
    calls: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", f"{path}/members", {"account_ids": [c.person.account_id]}),
        ("DELETE", f"{path}/members/{b.person.account_id}", None),
        ("POST", f"{path}/messages", {**change, "text": "in the clear"}),
        ("PUT", f"{path}/messages/{sent}/text", {**change, "text": "in the clear"}),
        ("PUT", f"{path}/messages/{sent}/reaction", {**change, "emoji": "🔥"}),
    ]

    answers = [await a.person.call(method, url, json=body) for method, url, body in calls]

    assert {code(each) for each in answers} == {"thread_encrypted"}


async def test_new_leaves_take_the_first_free_places(devices: Sequence[TestDevice]) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, c, name="")
    gone: Any = {"removes": [1], "remove_members": [b.person]}
    assert (await send_commit(a, thread_id, epoch=1, leaf_index=0, **gone)).status_code == 201
    laptop = await register(c.person, "laptop")

    answer = await send_commit(c, thread_id, epoch=2, leaf_index=2, added=[laptop])

    assert answer.status_code == 201, answer.text
    leaves = (await get_group(a.person, thread_id))["leaves"]
    assert [(each["leaf_index"], each["device_id"]) for each in leaves] == [
        (0, a.device_id), (1, laptop.device_id), (2, c.device_id)
    ]  # fmt: skip


async def test_commits_that_do_not_fit_are_refused(devices: Sequence[TestDevice]) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, name="")
    package = a.key_package()
    stranger = TestDevice(c.person, c.device_id)  # another key than the registered one
    adds = [stranger.key_package()]
    wrong = [
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=1)},  # another's leaf
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, group=2)},
        {"commit": mls.commit(thread_id, epoch=2, leaf_index=0)},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, path=b.path())},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, references=[b"x" * 32])},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, removes=[7])},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, removes=[0])},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, adds=[package])},  # without a welcome
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0), "welcome": mls.welcome([package])},
        {
            "commit": mls.commit(thread_id, epoch=1, leaf_index=0, adds=[package]),
            "welcome": mls.welcome([package]),
        },
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0, adds=adds), "welcome": mls.welcome(adds)},
        {"commit": mls.commit(thread_id, epoch=1, leaf_index=0)[:-2]},
        {"commit": mls.ciphertext(thread_id, epoch=1)},
        {"commit": b""},
    ]

    answers = [
        await post_commit(a, thread_id, epoch=1, **{key: mls.text(value) for key, value in each.items()})
        for each in wrong
    ]

    assert [each.status_code for each in answers] == [400] * len(wrong)
    assert {code(each) for each in answers} <= {"commit_invalid", "encoding_invalid", "key_package_invalid"}
    assert (await get_group(a.person, thread_id))["epoch"] == 1


async def test_who_leaves_is_removed_by_the_next_commit_and_nothing_is_said_before(
    devices: Sequence[TestDevice],
) -> None:
    a, b, c = devices
    thread_id = await begin_group(a, b, c, name="")
    proposal, reference = mls.removal(thread_id, epoch=1, leaf_index=2, removed=2)
    body = {"device_id": c.device_id, "group_number": 1, "epoch": 1, "proposals": [mls.text(proposal)]}
    path = f"/direct/threads/{thread_id}/encryption/departure"
    other, _ = mls.removal(thread_id, epoch=1, leaf_index=2, removed=0)
    assert (
        code(await c.person.call("POST", path, json=body | {"proposals": [mls.text(other)]}))
        == "commit_invalid"
    )
    assert code(await c.person.call("POST", path, json=body | {"epoch": 0})) == "epoch_stale"

    assert (await c.person.call("POST", path, json=body)).status_code == 204

    assert (await get_group(a.person, thread_id))["proposals"] == [mls.text(proposal)]
    assert code(await send(a, thread_id, epoch=1)) == "commit_needed"
    assert code(await send_commit(a, thread_id, epoch=1, leaf_index=0, path=a.path())) == "commit_needed"
    taken = await send_commit(b, thread_id, epoch=1, leaf_index=1, references=[reference], path=b.path())
    assert taken.status_code == 201, taken.text
    assert (await get_group(a.person, thread_id))["proposals"] == []
    assert (await send(a, thread_id, epoch=2)).status_code == 201


async def test_a_group_begins_anew_only_when_nobody_holds_its_keys(devices: Sequence[TestDevice]) -> None:
    a, b, _ = devices
    thread_id = await begin_group(a, b)
    path = f"/direct/threads/{thread_id}/encryption/group"
    body = {"device_id": a.device_id, "group_number": 1}
    assert code(await a.person.call("POST", path, json=body)) == "group_in_use"
    for each in (a, b):
        await each.person.call("DELETE", f"/direct/encryption/devices/{each.device_id}")
    phone, rival = await register(a.person), await register(b.person)

    answers = await asyncio.gather(
        phone.person.call("POST", path, json=body | {"device_id": phone.device_id}),
        rival.person.call("POST", path, json=body | {"device_id": rival.device_id}),
    )

    assert sorted(each.status_code for each in answers) == [201, 409]
    group = await get_group(a.person, thread_id)
    assert (group["group_number"], group["epoch"], len(group["leaves"])) == (2, 0, 1)
    assert code(await send_commit(a, thread_id, epoch=1, leaf_index=0)) in {
        "epoch_taken",
        "device_not_in_group",
    }
