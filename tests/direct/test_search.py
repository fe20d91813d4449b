"""Search in one's own messages: what one may read, and nothing else."""

import pytest

from tests.direct.support import Device, code, handle, open_group, open_pair, stored_events, thread_of
from tests.support import Person
from tintype.base.ids import LARGEST_ID
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def found(person: Person, words: str, **params: str) -> list[str]:
    answer = await person.call("GET", "/direct/search", params={"q": words, **params})
    assert answer.status_code == 200, answer.text
    return [each["text"] for each in answer.json()["messages"]]


async def test_messages_are_found_by_their_words_in_every_thread_one_is_in(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    pair, group = await open_pair(ana, bo), await open_group(ana, bo, cy)
    device = Device(ana)
    await device.send(pair, "Dinner at Zoë's?")
    await device.send(group, "dinner\nfor three")
    await device.send(pair, "unrelated")
    await handle(rooms, await stored_events(rooms))

    assert sorted(await found(bo, "DINNER")) == ["Dinner at Zoë's?", "dinner\nfor three"]
    assert await found(bo, "zoe dinner") == ["Dinner at Zoë's?"]
    assert await found(bo, "dinner", thread_id=group) == ["dinner\nfor three"]
    assert await found(cy, "dinner") == ["dinner\nfor three"]
    assert await found(cy, "dinner", thread_id=pair) == []
    assert await found(cy, "dinner", thread_id=str(LARGEST_ID)) == []  # of a shard that does not exist
    assert await found(bo, "breakfast") == []
    assert await code(bo.call("GET", "/direct/search", params={"q": "!"})) == "message_search_invalid"


async def test_nobody_finds_what_was_said_before_they_joined_or_after_they_left(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    thread_id, device = await open_group(ana, bo), Device(ana)
    await device.send(thread_id, "secret before")
    await ana.call("POST", f"/direct/threads/{thread_id}/members", json={"account_ids": [cy.account_id]})
    await device.send(thread_id, "secret after")
    await handle(rooms, await stored_events(rooms))

    assert await found(cy, "secret") == ["secret after"]
    assert await found(bo, "secret") == ["secret after", "secret before"]

    await cy.call("DELETE", f"/direct/threads/{thread_id}/members/{cy.account_id}")
    assert await found(cy, "secret") == []
    await bo.call("PUT", f"/blocks/{ana.account_id}")
    assert await found(bo, "secret") == []


@pytest.mark.parametrize("is_late", [False, True])
async def test_words_go_with_their_text_however_late_events_come(
    friends: Friends, rooms: Rooms, is_late: bool
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    edited = (await device.send(thread_id, "first version"))["message_id"]
    unsent = (await device.send(thread_id, "regret version"))["message_id"]
    events = await stored_events(rooms)
    if not is_late:
        await handle(rooms, events)
    await device.put(thread_id, f"{edited}/text", text="second version")
    await device.put(thread_id, f"{unsent}/unsent")

    await handle(rooms, [*reversed(await stored_events(rooms)), *events])

    assert await found(bo, "version") == ["second version"]
    assert await found(bo, "first") == await found(bo, "regret") == []
    words = await rooms.shards.owner(thread_of(thread_id)).raw.fetch(
        "SELECT word FROM message_words ORDER BY word"
    )
    assert [row["word"] for row in words] == ["second", "version"]
