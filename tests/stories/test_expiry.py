"""Stories end after 24 hours by the clock of their server, to the second, and partitions are dropped after them."""

import asyncio
from contextvars import Context

import pytest

from tests.stories.support import (
    TIME_SHIFT,
    ServerClock,
    id_of,
    list_stories,
    publish_story,
    query,
    server_of,
    status,
    story_id,
    tray,
    tray_usernames,
)
from tests.support import Person
from tintype.wiring import Rooms

LIST_PARTITIONS = """
SELECT p.relname || right(c.relname, 10) AS part FROM pg_inherits AS i
JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS p ON p.oid = i.inhparent
WHERE p.relnamespace = current_schema()::regnamespace AND p.relname = 'stories'
"""
NAME_OF_DAY = (
    "to_char((story_now() + make_interval(days => {})) AT TIME ZONE 'UTC', '\"stories__\"YYYYMMDD') AS part"
)


async def list_partitions(rooms: Rooms, near: int) -> set[str]:
    return {row["part"] for row in await query(rooms, near, LIST_PARTITIONS)}


async def partition_names(rooms: Rooms, near: int, *offsets: int) -> set[str]:
    return {(await query(rooms, near, f"SELECT {NAME_OF_DAY.format(each)}"))[0]["part"] for each in offsets}


@pytest.mark.slow
async def test_a_story_is_shown_for_a_day_and_not_a_second_longer(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    ana, bo = friends
    story = await publish_story(ana)
    path = f"/stories/{story['story_id']}"
    assert 86_390 <= story["ttl_remaining"] <= 86_400

    await clock.move(24 - 20 / 3600)
    still = (await bo.call("GET", path)).json()
    assert 0 <= still["ttl_remaining"] <= 20
    assert await tray_usernames(bo) == ["ana"]

    await clock.move(24)
    assert await list_stories(bo, ana) == []
    assert await list_stories(ana, ana) == []
    assert await tray_usernames(bo) == []
    assert await tray_usernames(ana) == []
    for person in (ana, bo):
        assert await status(person, "GET", path) == 404
    assert await status(bo, "PUT", f"{path}/seen") == 404
    assert await status(bo, "PUT", f"{path}/reaction", json={"reaction": "🔥"}) == 404
    assert await status(bo, "POST", f"{path}/replies", json={"text": "late"}) == 404
    assert await status(ana, "GET", f"{path}/viewers") == 404
    assert await status(ana, "DELETE", path) == 404
    assert (
        await status(ana, "POST", "/highlights", json={"title": "x", "story_ids": [story["story_id"]]}) == 404
    )
    assert len(await query(rooms, id_of(ana), "SELECT id FROM stories")) == 1, "no job has run"


async def test_the_last_millisecond_is_shown_and_the_next_is_not(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, _ = friends
    story = story_id(await publish_story(ana))

    rows = await query(
        rooms,
        story,
        f"SELECT {story} >= shardwright.min_id_at(at - interval '24 hours' + interval '1 millisecond') AS lives "
        f"FROM (VALUES (shardwright.id_time({story}) + interval '23:59:59.999'), "
        f"(shardwright.id_time({story}) + interval '24 hours')) AS moment (at)",
    )

    assert [row["lives"] for row in rows] == [True, False]


@pytest.mark.slow
async def test_servers_whose_clocks_differ_each_show_their_stories_for_a_day(
    rooms: Rooms, ana: Person, bo: Person, cy: Person, clock: ServerClock
) -> None:
    """One server is five hours ahead; a viewer on the other still sees each story for 24 hours of its own server."""
    people = {server_of(rooms, id_of(each)): each for each in (ana, bo, cy)}
    assert len(people) == 2, "both servers keep somebody"
    (fast, author), (right, viewer) = people.items()
    await viewer.call("PUT", f"/accounts/{author.account_id}/follow")
    await clock.move(5, [fast])
    story = await publish_story(author)
    path = f"/stories/{story['story_id']}"
    assert 86_380 <= story["ttl_remaining"] <= 86_400
    assert await status(viewer, "PUT", f"{path}/seen") == 204

    await clock.move(23.9, [right])
    await clock.move(5 + 23.9, [fast])
    assert await tray_usernames(viewer) == [author.username]
    assert (await tray(viewer))["story_ring"][0]["has_unseen"] is False

    await clock.move(5 + 24, [fast])
    assert await tray_usernames(viewer) == []
    assert await status(viewer, "GET", path) == 404


@pytest.mark.slow
async def test_partitions_are_created_and_dropped_as_time_passes(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    ana, bo = friends
    shown: list[int] = []
    for day in range(5):
        await clock.move(24 * day)
        await rooms.stories.rotate_partitions()
        story = await publish_story(ana)
        shown.append(int(story["story_id"]))
        await bo.call("PUT", f"/stories/{story['story_id']}/seen")
        assert await list_stories(bo, ana) == [story["story_id"]]
        here = await list_partitions(rooms, id_of(ana))
        assert await partition_names(rooms, id_of(ana), 0, 1, 2) <= here
        assert not here & await partition_names(rooms, id_of(ana), -3, -4, -5)

    kept = {row["id"] for row in await query(rooms, id_of(ana), "SELECT id FROM stories")}
    assert shown[-1] in kept
    assert not kept & set(shown[:2]), "their partitions were dropped"


@pytest.mark.slow
async def test_a_partition_is_dropped_only_when_its_last_story_ended_an_hour_ago(
    rooms: Rooms, ana: Person, clock: ServerClock
) -> None:
    """Two days after a day began its last story has ended; an hour later its partition can go."""
    rows = await query(
        rooms,
        id_of(ana),
        "SELECT extract(epoch FROM date_trunc('day', now(), 'UTC') + interval '48 hours' - now()) / 3600 AS hours",
    )
    hours = float(rows[0]["hours"])
    today = await partition_names(rooms, id_of(ana), 0)

    await clock.move(hours + 0.9)
    await rooms.stories.rotate_partitions()
    assert today <= await list_partitions(rooms, id_of(ana))

    await clock.move(hours + 1.1)
    await rooms.stories.rotate_partitions()
    assert not today & await list_partitions(rooms, id_of(ana))


@pytest.mark.slow
async def test_without_the_schedule_publishing_a_story_creates_its_partition(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    """No job ran for ten days; several people publish stories at once, and somebody sees them."""
    ana, bo = friends
    await clock.move(240)

    made = await asyncio.gather(*(publish_story(person) for person in (ana, bo, ana)))

    assert await list_stories(bo, ana) == sorted([made[0]["story_id"], made[2]["story_id"]], key=int)
    assert await status(bo, "PUT", f"/stories/{made[0]['story_id']}/seen") == 204
    assert (await bo.call("GET", f"/stories/{made[0]['story_id']}")).json()["seen"] is True


@pytest.mark.slow
async def test_partitions_created_later_have_the_shard_guard_too(
    rooms: Rooms, ana: Person, clock: ServerClock
) -> None:
    await clock.move(24 * 30)
    await rooms.stories.rotate_partitions()

    bare = await query(
        rooms,
        id_of(ana),
        "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = current_schema()::regnamespace "
        "AND c.relkind IN ('r', 'p') AND NOT EXISTS "
        "(SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgname = 'shardwright_guard') "
        "AND c.relname <> 'schema_version'",
    )

    assert [row["relname"] for row in bare] == []


@pytest.mark.slow
async def test_a_long_read_does_not_make_the_rotation_block_everybody(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    """Dropping a partition needs a lock for a moment; where it cannot get it, the next run drops it."""
    ana, bo = friends
    await clock.move(24 * 3)
    old = await partition_names(rooms, id_of(ana), -3)

    async def rotate_and_publish() -> None:
        await rooms.stories.rotate_partitions()
        assert old <= await list_partitions(rooms, id_of(ana))
        await publish_story(ana)

    async with rooms.shards.owner(id_of(ana)).begin() as tx:
        await tx.connection.fetch("SELECT count(*) FROM stories")
        others = asyncio.create_task(
            rotate_and_publish(), context=Context()
        )  # hold no connection, unlike the reader
        await asyncio.wait_for(others, 60)

    await rooms.stories.rotate_partitions()

    assert not old & await list_partitions(rooms, id_of(ana))
    assert await tray_usernames(bo) == ["ana"]


@pytest.mark.slow
async def test_the_media_of_a_story_do_not_open_after_its_end_and_are_deleted_an_hour_later(
    rooms: Rooms, ana: Person, clock: ServerClock
) -> None:
    story = await publish_story(ana)
    url = story["media"]["url"]

    await clock.move(24.1)
    await rooms.stories.sweep()
    assert (await ana.client.get(url)).status_code == 404
    states = await query(rooms, id_of(ana), "SELECT state FROM media")
    assert [row["state"] for row in states] == ["ready"]

    await clock.move(25.1)
    await rooms.stories.sweep()
    await rooms.stories.sweep()
    states = await query(rooms, id_of(ana), "SELECT state FROM media")
    assert [row["state"] for row in states] in (["deleted"], [])


def test_an_id_holds_its_milliseconds_above_the_shift(rooms: Rooms) -> None:
    """The tests here rely on it to move the time in ids."""
    layout = rooms.shards.map.layout
    one = layout.min_id_at(layout.id_time(1 << 40))

    assert (layout.id_time(one + (1000 << TIME_SHIFT)) - layout.id_time(one)).total_seconds() == 1
