"""Questions in stories: one answer per viewer, which only the author reads and which can be replaced or withdrawn."""

from typing import Any

from tests.notifications.support import handle, list_notifications
from tests.stories.support import id_of, publish_story, query, status, story_id
from tests.support import Person
from tintype.stories import StoryAnswered
from tintype.wiring import Rooms

QUESTION = {"type": "question", "prompt": "Where should I go next?"}


async def answer(person: Person, story: dict[str, Any], text: str) -> Any:
    return await person.call("PUT", f"/stories/{story['story_id']}/answer", json={"text": text})


async def list_answers(author: Person, story: dict[str, Any]) -> list[tuple[str, str]]:
    found = await author.call("GET", f"/stories/{story['story_id']}/answers")
    assert found.status_code == 200, found.text
    return [(each["username"], each["text"]) for each in found.json()["answers"]]


async def test_the_author_alone_reads_answers_and_the_last_of_a_viewer_counts(
    friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[QUESTION])

    assert (await answer(bo, story, "Porto")).status_code == 204
    assert (await answer(bo, story, " Lisbon ")).status_code == 204
    assert (await answer(cy, story, "Home")).status_code == 204

    assert await list_answers(ana, story) == [("cy", "Home"), ("bo", "Lisbon")]
    (mine,) = (await bo.call("GET", f"/stories/{story['story_id']}")).json()["elements"]
    assert mine["viewer_answer"] == "Lisbon"
    assert await status(bo, "GET", f"/stories/{story['story_id']}/answers") == 404
    await ana.call("PUT", f"/blocks/{cy.account_id}")
    assert await list_answers(ana, story) == [("bo", "Lisbon")]
    assert (await answer(cy, story, "Still here")).status_code == 404


async def test_answers_have_a_length_need_a_question_and_another_persons_story(
    friends: tuple[Person, Person],
) -> None:
    ana, bo = friends
    story, plain = await publish_story(ana, elements=[QUESTION]), await publish_story(ana)

    for text in ("", " ", "x" * 301):
        assert (await answer(bo, story, text)).json()["code"] == "answer_invalid"
    assert (await answer(bo, plain, "x")).json()["code"] == "sticker_not_found"
    assert (await answer(ana, story, "x")).json()["code"] == "own_story"


async def test_answers_to_a_story_are_one_notification_and_a_withdrawn_one_leaves_it(
    rooms: Rooms, friends: tuple[Person, Person], cy: Person
) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[QUESTION])
    number = story_id(story)
    for person, text in ((bo, "Porto"), (cy, "Home")):
        await answer(person, story, text)
        await handle(rooms, StoryAnswered(number, id_of(ana), id_of(person), number + id_of(person)))

    (line,) = await list_notifications(ana)
    assert (line["kind"], line["actor_count"]) == ("story_answer", 2)
    assert line["story"]["text"] in {"Porto", "Home"}

    await bo.call("DELETE", f"/stories/{number}/answer")
    gone = StoryAnswered(number, id_of(ana), id_of(bo), number + id_of(bo) + 1, is_withdrawn=True)
    await handle(rooms, gone)
    (line,) = await list_notifications(ana)
    assert (line["actor_count"], line["story"]["text"]) == (1, "Home")
    assert await list_answers(ana, story) == [("cy", "Home")]


async def test_an_erased_persons_answer_is_gone(rooms: Rooms, friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    story = await publish_story(ana, elements=[QUESTION])
    await answer(bo, story, "Porto")

    while await rooms.stories.personal_data.erase(id_of(bo)):
        pass

    assert await query(rooms, story_id(story), "SELECT FROM story_views") == []
