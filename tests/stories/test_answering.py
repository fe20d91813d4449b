"""Reactions and replies reach the author once, as notifications; mentions reach those who may see the story."""

import asyncio
from typing import Any

import pytest

from tests.notifications.telling import hear, lines
from tests.stories.showing import id_of, query, show, status, story_id
from tests.support import Person, eventually
from tintype.stories import StoryPublished, StoryReacted, StoryRemoved, StoryReplied
from tintype.wiring import Rooms
from tintype.worker import Worker


async def told(person: Person) -> list[tuple[str, str | None, str | None]]:
    return [
        (each["kind"], each["story"]["text"], each["story"]["reaction"])
        for each in await lines(person)
        if each["story"]
    ]


@pytest.mark.usefixtures("clean_streams")
async def test_a_reply_and_a_reaction_reach_the_author(
    friends: tuple[Person, Person], working: Worker
) -> None:
    ana, bo = friends
    story = story_id(await show(ana))
    assert await status(bo, "PUT", f"/stories/{story}/reaction", json={"reaction": "❤️"}) == 204
    assert await status(bo, "PUT", f"/stories/{story}/reaction", json={"reaction": "🔥"}) == 204
    answer = await bo.call("POST", f"/stories/{story}/replies", json={"text": " What light! "})
    assert answer.status_code == 201

    async def is_told() -> bool:
        return sorted(await told(ana)) == [
            ("story_reaction", None, "🔥"),
            ("story_reply", "What light!", None),
        ]

    await eventually(is_told, what="both are in the list")
    line = next(each for each in await lines(ana) if each["kind"] == "story_reply")
    assert line["story"]["story_id"] == str(story)
    assert line["story"]["is_live"] is True
    assert (await ana.client.get(line["story"]["thumbnail_url"])).status_code == 200
    mine = (await ana.call("GET", f"/stories/{story}")).json()
    assert (mine["view_count"], mine["reaction_count"]) == (1, 1)
    assert (await bo.call("GET", f"/stories/{story}")).json()["viewer_reaction"] == "🔥"

    assert await status(bo, "DELETE", f"/stories/{story}/reaction") == 204
    assert (await ana.call("GET", f"/stories/{story}")).json()["reaction_count"] == 0

    async def is_taken_back() -> bool:
        return await told(ana) == [("story_reply", "What light!", None)]

    await eventually(is_taken_back, what="the reaction is not told any more")


async def test_reactions_in_any_order_end_with_the_last(rooms: Rooms, friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = story_id(await show(ana))
    news = [StoryReacted(story, id_of(ana), id_of(bo), story + n, sign) for n, sign in ((1, "🔥"), (2, None))]

    await hear(rooms, *reversed(news), *news)

    assert await lines(ana) == []


async def test_a_reply_with_a_key_is_said_once(rooms: Rooms, friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = story_id(await show(ana))

    async def say(text: str) -> Any:
        return await bo.call(
            "POST", f"/stories/{story}/replies", json={"text": text}, headers={"Idempotency-Key": "k"}
        )

    answers = await asyncio.gather(*(say("hello") for _ in range(5)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["reply_id"] for answer in answers}) == 1
    assert (await say("another")).status_code == 409
    assert len(await query(rooms, id_of(bo), "SELECT FROM story_replies")) == 1


async def test_what_cannot_be_said(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story, quiet = story_id(await show(ana)), story_id(await show(ana, replies_enabled=False))
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
async def test_whoever_is_not_welcome_does_not_reach_the_author(
    rooms: Rooms, friends: tuple[Person, Person], how: str
) -> None:
    ana, bo = friends
    story = story_id(await show(ana))
    body = {"json": {"posts": True}} if how == "mutes" else {}
    assert await status(ana, "PUT", f"/{how}/{bo.account_id}", **body) < 300

    await hear(rooms, StoryReplied(1 << 41, story, id_of(ana), id_of(bo), "psst"))

    assert await lines(ana) == []


async def test_a_mention_is_told_to_those_who_may_see_the_story(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    named = [{"user_id": person.account_id, "x": 0.5, "y": 0.5} for person in (bo, cy)]
    story = story_id(await show(ana, audience="close_friends", mentions=named))
    published = StoryPublished(story, id_of(ana), (id_of(bo), id_of(cy)))

    await hear(rooms, published, published)

    assert [each["kind"] for each in await lines(bo)] == ["story_mention"]
    assert await lines(cy) == []


async def test_a_removed_story_mentions_nobody_whatever_arrives_first(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    story = story_id(await show(ana, mentions=[{"user_id": bo.account_id, "x": 0, "y": 1}]))
    published = StoryPublished(story, id_of(ana), (id_of(bo),))
    await hear(rooms, published)
    assert len(await lines(bo)) == 1

    await ana.call("DELETE", f"/stories/{story}")
    removed = StoryRemoved(story, id_of(ana), story + 1, (id_of(bo),))
    await hear(rooms, removed, published, removed)

    assert await lines(bo) == []
