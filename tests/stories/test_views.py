"""Views: recorded at once for the viewer, counted exactly for the author, however often events arrive."""

import asyncio

from tests.stories.support import handle, id_of, publish_story, query, status, story_id
from tests.support import Person
from tintype.stories import StorySeen
from tintype.wiring import Rooms


async def count_outbox_events(rooms: Rooms, near: int, name: str) -> int:
    found = await query(rooms, near, f"SELECT count(*) FROM common.outbox WHERE event = '{name}'")
    return found[0][0]


async def viewers(person: Person, story: int) -> tuple[int, list[str]]:
    body = (await person.call("GET", f"/stories/{story}/viewers")).json()
    return body["view_count"], [each["username"] for each in body["viewers"]]


async def test_concurrent_views_by_one_viewer_count_once(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))

    codes = await asyncio.gather(*(status(bo, "PUT", f"/stories/{story}/seen") for _ in range(10)))

    assert set(codes) == {204}
    assert await count_outbox_events(rooms, id_of(bo), "story_seen") == 1
    assert (await bo.call("GET", f"/stories/{story}")).json()["seen"] is True


async def test_repeated_events_count_once(rooms: Rooms, friends: tuple[Person, Person], cy: Person) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    events = [StorySeen(story, id_of(ana), id_of(person)) for person in (bo, cy)]

    await asyncio.gather(*(handle(rooms, event) for event in events * 5))

    assert await viewers(ana, story) in ((2, ["cy", "bo"]), (2, ["bo", "cy"]))


async def test_concurrent_reactions_and_views_add_up(
    rooms: Rooms, friends: tuple[Person, Person], cy: Person
) -> None:
    """Both take the story's lock first, so none waits for the other for ever, and both counts are exact."""
    ana, bo = friends
    story = story_id(await publish_story(ana))
    work = [
        handle(rooms, StorySeen(story, id_of(ana), id_of(person))) for person in (bo, cy) for _ in range(5)
    ]
    work += [rooms.stories.react(story, id_of(person), sign) for person in (bo, cy) for sign in ("🔥", "👏")]

    await asyncio.gather(*work)

    row = (await query(rooms, story, f"SELECT view_count, reaction_count FROM stories WHERE id = {story}"))[0]
    assert tuple(row) == (2, 2)


async def test_the_authors_own_view_is_not_counted(rooms: Rooms, ana: Person) -> None:
    story = story_id(await publish_story(ana))

    assert await status(ana, "PUT", f"/stories/{story}/seen") == 204

    assert await count_outbox_events(rooms, id_of(ana), "story_seen") == 0


async def test_only_the_author_lists_viewers_and_without_blocked_ones(
    rooms: Rooms, friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    for person in (bo, cy):
        await person.call("PUT", f"/stories/{story}/seen")
        await handle(rooms, StorySeen(story, id_of(ana), id_of(person)))
    await cy.call("PUT", f"/stories/{story}/reaction", json={"reaction": "🔥"})

    assert await viewers(ana, story) == (2, ["cy", "bo"])
    listed = (await ana.call("GET", f"/stories/{story}/viewers", params={"limit": 1})).json()
    assert (listed["viewers"][0]["reaction"], listed["has_more"]) == ("🔥", True)
    after = {"cursor": listed["next_cursor"]}
    rest = (await ana.call("GET", f"/stories/{story}/viewers", params=after)).json()
    assert [each["username"] for each in rest["viewers"]] == ["bo"]
    assert await status(bo, "GET", f"/stories/{story}/viewers") == 404

    await ana.call("PUT", f"/blocks/{cy.account_id}")
    assert (await viewers(ana, story))[1] == ["bo"]


async def test_many_stories_are_marked_seen_at_once_and_invisible_ones_are_skipped(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    open_ones = [(await publish_story(ana))["story_id"] for _ in range(3)]
    shut = (await publish_story(ana, audience="close_friends"))["story_id"]
    ids = [*open_ones, shut, "9223372036854775807", "141402734592003", bo.account_id]

    assert await status(bo, "PUT", "/stories/seen", json={"story_ids": ids}) == 204

    rows = await query(
        rooms, id_of(bo), f"SELECT story_id FROM seen_stories WHERE viewer_id = {bo.account_id}"
    )
    assert {str(row["story_id"]) for row in rows} == set(open_ones)


async def test_events_of_a_deleted_story_write_nothing(rooms: Rooms, ana: Person, bo: Person) -> None:
    story = story_id(await publish_story(ana))
    await query(rooms, story, f"DELETE FROM stories WHERE id = {story}")

    await handle(rooms, StorySeen(story, id_of(ana), id_of(bo)))

    assert await query(rooms, story, "SELECT FROM story_views") == []
