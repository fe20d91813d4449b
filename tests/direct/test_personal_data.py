"""What somebody takes along, and that nothing of them stays."""

from tests.direct.support import (
    Device,
    code,
    get_thread,
    handle,
    id_of,
    open_group,
    open_pair,
    stored_events,
    texts,
)
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]
TABLES = (
    "threads",
    "thread_members",
    "messages",
    "message_reactions",
    "message_words",
    "thread_devices",
    "thread_mutations",
    "inbox",
    "direct_settings",
    "message_media",
)


async def say_something(ana: Person, bo: Person, cy: Person) -> tuple[str, str]:
    """A pair and a group in which everybody writes and reacts."""
    pair, group = await open_pair(ana, bo), await open_group(ana, bo, cy, name="Trip")
    phone, desk = Device(ana), Device(bo)
    mine = await phone.send(pair, "from ana")
    theirs = await desk.send(pair, "from bo", reply_to=mine["message_id"])
    await phone.put(pair, f"{theirs['message_id']}/reaction", emoji="🔥")
    await phone.send(group, "ana in the group")
    await desk.send(group, "bo in the group")
    await ana.call("PUT", "/direct/settings", json={"audience": "following", "preview": "nothing"})
    return pair, group


async def erase(rooms: Rooms, person: Person) -> None:
    holder = rooms.direct.personal_data
    while await holder.erase(id_of(person)):
        pass
    assert await holder.count_left(id_of(person)) == 0


async def find_everywhere(rooms: Rooms, text: str) -> list[str]:
    """The tables of the room in which some row contains this."""
    found: list[str] = []
    for number in rooms.shards.map.owners:
        for table in TABLES:
            rows = await rooms.shards.shard(number).raw.fetch(f"SELECT t::text AS row FROM {table} AS t")
            found += [table for row in rows if text in row["row"]]
    return found


async def test_an_export_has_what_somebody_wrote(friends: Friends, rooms: Rooms) -> None:
    await say_something(*friends)

    records = [each async for each in rooms.direct.personal_data.export(id_of(friends[0]))]

    messages = [each.content["text"] for each in records if each.file == "messages.json"]
    assert sorted(messages) == ["ana in the group", "from ana"]
    assert {each.content["name"] for each in records if each.file == "threads.json"} == {"", "Trip"}
    settings = [each.content for each in records if each.file == "direct_settings.json"]
    assert settings == [{"audience": "following", "preview": "nothing"}]


async def test_nothing_of_an_erased_person_stays_and_others_keep_what_is_theirs(
    friends: Friends, rooms: Rooms
) -> None:
    ana, bo, cy = friends
    pair, group = await say_something(*friends)

    await erase(rooms, ana)
    await handle(rooms, await stored_events(rooms))

    assert await texts(bo, pair) == ["from bo"]
    assert await texts(cy, group) == ["bo in the group"]
    assert [each["is_admin"] for each in (await get_thread(bo, group))["members"]].count(True) == 1
    assert await code(Device(bo).try_send(pair)) == "recipient_unavailable"
    # The handlers' inbox rows are refused once the account is gone: here it is still there, so erase once more.
    await erase(rooms, ana)
    assert await find_everywhere(rooms, ana.account_id) == []


async def test_a_thread_goes_with_its_last_person(friends: Friends, rooms: Rooms) -> None:
    await say_something(*friends)

    for person in friends:
        await erase(rooms, person)

    for table in TABLES:
        for number in rooms.shards.map.owners:
            assert await rooms.shards.shard(number).raw.fetch(f"SELECT FROM {table}") == []
