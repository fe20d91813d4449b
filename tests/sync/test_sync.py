"""The update log: numbered without gaps, appended once, read by its owner, swept, redacted, exported and erased."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from shardwright.routing import Query
from tests.notifications.support import id_of
from tests.support import Person
from tintype.base.ids import AccountId
from tintype.base.nats import NatsNames
from tintype.sync import Update, UpdateInvalid
from tintype.wiring import Rooms

CLOSE = Query.parse("close", "UPDATE accounts SET status = 'gone' WHERE id = :account_id")


def update(person: Person, key: str, *people: Person) -> Update:
    return Update(id_of(person), key, "test", {"key": key}, tuple(id_of(each) for each in people))


async def read(person: Person, **params: Any) -> dict[str, Any]:
    answer = await person.call("GET", "/sync", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def keys_of(person: Person, since: int = 0) -> list[str]:
    return [each["payload"].get("key", "-") for each in (await read(person, since=since))["updates"]]


async def test_updates_are_numbered_per_account_and_read_in_pages(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await rooms.sync.append([update(ana, "a"), update(bo, "x"), update(ana, "b"), update(ana, "c")])

    first = await read(ana, since=0, limit=2)
    rest = await read(ana, since=2)

    assert [(each["seq"], each["kind"], each["payload"]) for each in first["updates"]] == [
        (1, "test", {"key": "a"}),
        (2, "test", {"key": "b"}),
    ]
    assert (first["seq"], first["has_more"], first["is_reset"]) == (3, True, False)
    assert ([each["seq"] for each in rest["updates"]], rest["has_more"]) == ([3], False)
    assert await keys_of(bo) == ["x"]


async def test_a_repeated_append_adds_nothing(rooms: Rooms, ana: Person) -> None:
    await rooms.sync.append([update(ana, "a"), update(ana, "a")])
    await rooms.sync.append([update(ana, "b"), update(ana, "a"), update(ana, "c")])

    assert await keys_of(ana) == ["a", "b", "c"]
    assert (await read(ana, since=0))["seq"] == 3


async def test_updates_that_are_believed_to_be_new_and_are_not_add_nothing(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await rooms.sync.append([update(ana, "a"), update(bo, "a")], are_new=True)
    await rooms.sync.append([update(ana, "a"), update(bo, "b")], are_new=True)
    await rooms.sync.append([update(ana, "b"), update(ana, "c")], are_new=True)
    await asyncio.gather(*(rooms.sync.append([update(ana, "d")], are_new=True) for _ in range(5)))

    assert (await keys_of(ana), await keys_of(bo)) == (["a", "b", "c", "d"], ["a", "b"])
    assert [each["seq"] for each in (await read(ana, since=0))["updates"]] == [1, 2, 3, 4]


async def test_concurrent_appends_of_the_same_keys_leave_no_gap_and_no_duplicate(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    batches = [
        [update(person, str(number)) for number in range(start, start + 8) for person in (ana, bo)]
        for start in range(20)
    ]

    await asyncio.gather(*(rooms.sync.append(batch) for batch in batches for _ in range(3)))

    for person in (ana, bo):
        found = (await read(person, since=0))["updates"]
        assert [each["seq"] for each in found] == list(range(1, 28))
        assert {each["payload"]["key"] for each in found} == {str(number) for number in range(27)}


async def test_a_client_that_knows_nothing_or_too_little_or_too_much_is_told_to_reset(
    rooms: Rooms, ana: Person
) -> None:
    assert await read(ana) == {"updates": [], "seq": 0, "has_more": False, "is_reset": True}
    assert (await read(ana, since=0))["is_reset"] is False

    await rooms.sync.append([update(ana, key) for key in "abcde"])
    await rooms.sync.sweep(datetime.now(UTC) + timedelta(days=2), kept=2)

    assert await read(ana, since=2) == {"updates": [], "seq": 5, "has_more": False, "is_reset": True}
    assert await keys_of(ana, since=3) == ["d", "e"]
    assert (await read(ana, since=6))["is_reset"] is True

    await rooms.sync.sweep(datetime.now(UTC) + timedelta(days=31))
    assert (await read(ana, since=4))["is_reset"] is True
    assert (await read(ana, since=5))["is_reset"] is False
    await rooms.sync.append([update(ana, "f")])
    assert [each["seq"] for each in (await read(ana, since=5))["updates"]] == [6]


async def test_excess_is_kept_for_a_day_so_that_appends_can_be_repeated(rooms: Rooms, ana: Person) -> None:
    await rooms.sync.append([update(ana, key) for key in "abc"])
    await rooms.sync.sweep(kept=1)
    await rooms.sync.append([update(ana, "a")])

    assert await keys_of(ana) == ["a", "b", "c"]


async def test_updates_are_published_to_their_topic_and_again_when_repeated(
    rooms: Rooms, ana: Person
) -> None:
    heard = await rooms.nats.subscribe(NatsNames.user(int(ana.account_id), "updates"))
    await rooms.nats.flush()

    await rooms.sync.append([update(ana, "a")])
    await rooms.sync.append([update(ana, "a"), update(ana, "b")])

    messages = [msgspec.json.decode((await heard.next_msg(timeout=30)).data) for _ in range(3)]
    first, second = (await read(ana, since=0))["updates"]
    assert messages == [first, first, second]
    assert heard.pending_msgs == 0
    await heard.unsubscribe()


async def test_a_redacted_update_keeps_its_number_and_cannot_come_back(rooms: Rooms, ana: Person) -> None:
    await rooms.sync.append([update(ana, "a"), update(ana, "b")])
    await rooms.sync.redact([(id_of(ana), "a")])
    await rooms.sync.append([update(ana, "a")])

    found = (await read(ana, since=0))["updates"]
    assert [(each["seq"], each["kind"], each["payload"]) for each in found] == [
        (1, "redacted", {}),
        (2, "test", {"key": "b"}),
    ]


@pytest.mark.parametrize(
    "made",
    [
        {"key": "k" * 201},
        {"key": ""},
        {"kind": "k" * 51},
        {"payload": {"text": "x" * 16_384}},
        {"people": tuple(AccountId(number) for number in range(251))},
    ],
    ids=["long key", "no key", "long kind", "large payload", "many people"],
)
async def test_updates_beyond_the_limits_are_refused(rooms: Rooms, ana: Person, made: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"key": "k", "kind": "test", "payload": {}, **made}

    with pytest.raises(UpdateInvalid):
        await rooms.sync.append([Update(id_of(ana), **fields)])


async def test_an_export_holds_the_log_and_erasure_leaves_nothing_of_a_person_in_any(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await rooms.sync.append([update(ana, f"from {bo.account_id}", bo), update(ana, "b"), update(bo, "x")])
    holder = rooms.sync.personal_data

    (record,) = [each async for each in holder.export(id_of(bo))]
    assert (record.file, record.content["content"]) == ("updates.json", {"key": "x"})

    assert await holder.count_left(id_of(bo)) == 3
    await rooms.shards.owner(id_of(bo)).execute(CLOSE, account_id=id_of(bo))
    while await holder.erase(id_of(bo)):
        pass
    await rooms.sync.append([update(bo, "late")])

    assert await holder.count_left(id_of(bo)) == 0
    assert await keys_of(ana) == ["-", "b"]
    assert await holder.count_left(id_of(ana)) == 3
