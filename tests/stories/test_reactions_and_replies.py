"""Reactions and replies reach the author once, as notifications; mentions reach those who may see the story."""

import asyncio
from typing import Any

import pytest

from tests.notifications.support import handle, list_notifications
from tests.stories.support import id_of, publish_story, query, status, story_id
from tests.support import Person, eventually
from tintype.stories import StoryPublished, StoryReacted, StoryRemoved, StoryReplied
from tintype.wiring import Rooms
from tintype.worker import Worker


async def story_notifications(person: Person) -> list[tuple[str, str | None, str | None]]:
    return [
        (each["kind"], each["story"]["text"], each["story"]["reaction"])
        for each in await list_notifications(person)
        if each["story"]
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("clean_streams")
async def test_a_reply_and_a_reaction_reach_the_author(
    friends: tuple[Person, Person], working: Worker
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    assert await status(bo, "PUT", f"/stories/{story}/reaction", json={"reaction": "❤️"}) == 204
    assert await status(bo, "PUT", f"/stories/{story}/reaction", json={"reaction": "🔥"}) == 204
    answer = await bo.call("POST", f"/stories/{story}/replies", json={"text": " What light! "})
    assert answer.status_code == 201

    async def is_notified() -> bool:
        return sorted(await story_notifications(ana)) == [
            ("story_reaction", None, "🔥"),
            ("story_reply", "What light!", None),
        ]

    await eventually(is_notified, what="both are in the list")
    line = next(each for each in await list_notifications(ana) if each["kind"] == "story_reply")
    assert line["story"]["story_id"] == str(story)
    assert line["story"]["is_live"] is True
    assert (await ana.client.get(line["story"]["thumbnail_url"])).status_code == 200
    mine = (await ana.call("GET", f"/stories/{story}")).json()
    assert (mine["view_count"], mine["reaction_count"]) == (1, 1)
    assert (await bo.call("GET", f"/stories/{story}")).json()["viewer_reaction"] == "🔥"

    assert await status(bo, "DELETE", f"/stories/{story}/reaction") == 204
    assert (await ana.call("GET", f"/stories/{story}")).json()["reaction_count"] == 0

    async def is_retracted() -> bool:
        return await story_notifications(ana) == [("story_reply", "What light!", None)]

    await eventually(is_retracted, what="the reaction is retracted")


async def test_reactions_in_any_order_end_with_the_last(rooms: Rooms, friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    events = [
        StoryReacted(story, id_of(ana), id_of(bo), story + n, sign) for n, sign in ((1, "🔥"), (2, None))
    ]

    await handle(rooms, *reversed(events), *events)

    assert await list_notifications(ana) == []


async def test_a_repeated_reply_with_an_idempotency_key_is_stored_once(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))

    async def say(text: str) -> Any:
        return await bo.call(
            "POST", f"/stories/{story}/replies", json={"text": text}, headers={"Idempotency-Key": "k"}
        )

    answers = await asyncio.gather(*(say("hello") for _ in range(5)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["reply_id"] for answer in answers}) == 1
    assert (await say("another")).status_code == 409
    assert len(await query(rooms, id_of(bo), "SELECT FROM story_replies")) == 1


async def test_invalid_replies_and_reactions_are_refused(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story, quiet = (
        story_id(await publish_story(ana)),
        story_id(await publish_story(ana, replies_enabled=False)),
    )
    for text in ("", "   ", "x" * 1001, "a\x00b"):
        assert await status(bo, "POST", f"/stories/{story}/replies", json={"text": text}) == 400
    for sign in ("", "x", "🦄", "❤️❤️"):
        answer = await bo.call("PUT", f"/stories/{story}/reaction", json={"reaction": sign})
        assert (answer.status_code, answer.json()["code"]) == (400, "reaction_invalid")
    answer = await bo.call("POST", f"/stories/{quiet}/replies", json={"text": "hm"})
    assert (answer.status_code, answer.json()["code"]) == (403, "replies_off")
    own = await ana.call("POST", f"/stories/{story}/replies", json={"text": "me"})
    assert (own.status_code, own.json()["code"]) == (403, "own_story")


@pytest.mark.parametrize("how", ["restrictions", "blocks", "mutes"])
async def test_replies_of_restricted_blocked_and_muted_people_do_not_reach_the_author(
    rooms: Rooms, friends: tuple[Person, Person], how: str
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    body = {"json": {"posts": True}} if how == "mutes" else {}
    assert await status(ana, "PUT", f"/{how}/{bo.account_id}", **body) < 300

    await handle(rooms, StoryReplied(1 << 41, story, id_of(ana), id_of(bo), "psst"))

    assert await list_notifications(ana) == []


async def test_a_mention_notifies_those_who_may_see_the_story(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    named = [{"account_id": person.account_id, "x": 0.5, "y": 0.5} for person in (bo, cy)]
    story = story_id(await publish_story(ana, audience="close_friends", mentions=named))
    published = StoryPublished(story, id_of(ana), (id_of(bo), id_of(cy)))

    await handle(rooms, published, published)

    assert [each["kind"] for each in await list_notifications(bo)] == ["story_mention"]
    assert await list_notifications(cy) == []


async def test_a_removed_story_notifies_nobody_in_whatever_order_events_arrive(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    story = story_id(await publish_story(ana, mentions=[{"account_id": bo.account_id, "x": 0, "y": 1}]))
    published = StoryPublished(story, id_of(ana), (id_of(bo),))
    await handle(rooms, published)
    assert len(await list_notifications(bo)) == 1

    await ana.call("DELETE", f"/stories/{story}")
    removed = StoryRemoved(story, id_of(ana), story + 1, (id_of(bo),))
    await handle(rooms, removed, published, removed)

    assert await list_notifications(bo) == []
