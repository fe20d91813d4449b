"""Polls in stories: one vote per viewer, exact counts however many vote at once, results after voting."""

import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from tests.stories.support import id_of, publish_story, status, story_id
from tests.support import Person, join
from tintype.wiring import Rooms

POLL = {"type": "poll", "question": "Which one?", "choices": ["Left", "Middle", "Right"]}


async def vote(person: Person, story: dict[str, Any], choice: int) -> Any:
    return await person.call("PUT", f"/stories/{story['story_id']}/vote", json={"choice": choice})


async def read_poll(person: Person, story: dict[str, Any]) -> tuple[list[int] | None, int | None]:
    (poll,) = (await person.call("GET", f"/stories/{story['story_id']}")).json()["elements"]
    return poll["counts"], poll["viewer_choice"]


async def test_results_are_shown_to_those_who_voted_and_to_the_author(
    friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[POLL])

    assert await read_poll(bo, story) == (None, None)
    answer = await vote(bo, story, 2)
    assert answer.json()["elements"][0]["counts"] == [0, 0, 1]

    assert await read_poll(bo, story) == ([0, 0, 1], 2)
    assert await read_poll(ana, story) == ([0, 0, 1], None)
    assert await read_poll(cy, story) == (None, None)
    (viewer,) = (await ana.call("GET", f"/stories/{story['story_id']}/viewers")).json()["viewers"]
    assert (viewer["username"], viewer["choice"]) == ("bo", 2)


async def test_a_vote_can_be_changed_and_repeated_without_counting_twice(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[POLL])

    await asyncio.gather(*(vote(bo, story, choice) for choice in (0, 1, 2, 1, 0, 0)))
    assert (await vote(bo, story, 1)).status_code == 200

    assert await read_poll(ana, story) == ([0, 1, 0], None)
    assert (await ana.call("GET", f"/stories/{story['story_id']}")).json()["view_count"] == 1


@pytest.mark.slow
async def test_votes_at_the_same_time_are_all_counted(client: AsyncClient, ana: Person) -> None:
    story = await publish_story(ana, elements=[POLL])
    people = [await join(client, f"voter{number}") for number in range(12)]

    answers = await asyncio.gather(
        *(vote(each, story, number % 3) for _ in range(2) for number, each in enumerate(people))
    )

    assert {answer.status_code for answer in answers} == {200}
    assert await read_poll(ana, story) == ([4, 4, 4], None)


async def test_a_vote_needs_a_poll_a_valid_choice_and_another_persons_story(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends
    story, plain = await publish_story(ana, elements=[POLL]), await publish_story(ana)

    assert (await vote(bo, story, 3)).json()["code"] == "choice_invalid"
    assert (await vote(bo, story, 4)).status_code in {400, 422}
    assert (await vote(bo, plain, 0)).json()["code"] == "sticker_not_found"
    assert (await vote(ana, story, 0)).json()["code"] == "own_story"
    await ana.call("PUT", f"/blocks/{bo.account_id}")
    assert (await vote(bo, story, 0)).json()["code"] == "story_not_found"
    assert await status(bo, "GET", f"/stories/{story['story_id']}") == 404


async def test_erasing_a_voter_takes_the_vote_back(rooms: Rooms, friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[POLL])
    body = {"title": "kept", "story_ids": [story["story_id"]]}
    kept = (await ana.call("POST", "/highlights", json=body)).json()
    await vote(bo, story, 1)
    records = [record async for record in rooms.stories.personal_data.export(id_of(bo))]
    assert [record.content for record in records] == [{"story_id": str(story_id(story)), "choice": 1}]

    while await rooms.stories.personal_data.erase(id_of(bo)):
        pass

    assert await read_poll(ana, story) == ([0, 0, 0], None)
    (item,) = (await ana.call("GET", f"/highlights/{kept['highlight_id']}")).json()["items"]
    assert item["elements"][0]["counts"] == [0, 0, 0]
