"""Countdowns in stories: whoever asked is notified at the end, once, unless the story was taken back."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.notifications.support import list_notifications
from tests.stories.support import ServerClock, id_of, publish_story, query, status, story_id
from tests.support import Person, eventually
from tintype.wiring import Rooms
from tintype.worker import Worker


def countdown(hours: float = 48, title: str = "The exhibition opens") -> dict[str, Any]:
    ends_at = datetime.now(UTC) + timedelta(hours=hours)
    return {"type": "countdown", "title": title, "ends_at": ends_at.isoformat()}


async def is_reminded(person: Person, story: dict[str, Any]) -> bool:
    (element,) = (await person.call("GET", f"/stories/{story['story_id']}")).json()["elements"]
    return element["viewer_is_reminded"]


@pytest.mark.slow
@pytest.mark.usefixtures("clean_streams")
async def test_who_asked_is_notified_once_at_the_end_though_the_story_has_ended(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock, working: Worker
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[countdown()])
    path = f"/stories/{story['story_id']}/reminder"
    assert await status(bo, "PUT", path) == 204
    assert await status(bo, "PUT", path) == 204
    await rooms.stories.announce_ended_countdowns()
    assert await query(rooms, id_of(bo), "SELECT FROM story_reminders WHERE notified_at IS NOT NULL") == []

    await clock.move(72)
    await asyncio.gather(*(rooms.stories.announce_ended_countdowns() for _ in range(3)))

    async def is_notified() -> bool:
        return [each["kind"] for each in await list_notifications(bo)] == ["story_countdown"]

    await eventually(is_notified, what="bo is notified")
    (line,) = await list_notifications(bo)
    assert (line["actors"][0]["username"], line["actor_count"]) == ("ana", 1)
    assert (line["story"]["text"], line["story"]["is_live"]) == ("The exhibition opens", False)


async def test_a_reminder_can_be_taken_back_and_needs_a_countdown_of_somebody_else(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends
    story, plain = await publish_story(ana, elements=[countdown()]), await publish_story(ana)
    path = f"/stories/{story['story_id']}/reminder"

    assert await status(bo, "PUT", path) == 204
    assert await is_reminded(bo, story)
    assert await status(bo, "DELETE", path) == 204
    assert not await is_reminded(bo, story)
    assert (await ana.call("PUT", path)).json()["code"] == "own_story"
    none = await bo.call("PUT", f"/stories/{plain['story_id']}/reminder")
    assert none.json()["code"] == "sticker_not_found"


async def test_nobody_is_notified_of_a_story_that_was_removed_or_hidden(
    rooms: Rooms, friends: tuple[Person, Person], clock: ServerClock
) -> None:
    ana, bo = friends
    removed, hidden = [await publish_story(ana, elements=[countdown(2)]) for _ in range(2)]
    for story in (removed, hidden):
        await bo.call("PUT", f"/stories/{story['story_id']}/reminder")
    await ana.call("DELETE", f"/stories/{removed['story_id']}")
    await rooms.stories.hide(story_id(hidden))

    await clock.move(3)
    await rooms.stories.announce_ended_countdowns()

    settled = await query(rooms, id_of(bo), "SELECT FROM story_reminders WHERE notified_at IS NULL")
    events = await query(rooms, id_of(bo), "SELECT FROM common.outbox WHERE event ILIKE '%countdown%'")
    assert (settled, events) == ([], [])


async def test_reminders_and_countdowns_of_an_erased_account_are_gone(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[countdown()])
    await bo.call("PUT", f"/stories/{story['story_id']}/reminder")
    exported = [record.file async for record in rooms.stories.personal_data.export(id_of(bo))]
    assert "story_reminders.json" in exported

    for person in (ana, bo):
        while await rooms.stories.personal_data.erase(id_of(person)):
            pass
        assert await rooms.stories.personal_data.count_left(id_of(person)) == 0

    assert await query(rooms, id_of(ana), "SELECT FROM story_countdowns") == []
