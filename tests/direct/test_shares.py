"""Posts and stories in messages: for each reader what that reader may see."""

from typing import Any

from tests.direct.support import Device, code, handle, inbox, open_group, open_pair, stored_events
from tests.stories.support import publish_story
from tests.support import Person
from tintype.wiring import Rooms

Friends = tuple[Person, Person, Person]


async def last(person: Person, thread_id: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages", params={"limit": 1})
    assert answer.status_code == 200, answer.text
    return answer.json()["messages"][0]


async def test_a_shared_post_is_shown_to_those_who_may_see_it_and_to_them_alone(friends: Friends) -> None:
    ana, bo, cy = friends
    await ana.call("PATCH", "/accounts/me", json={"is_private": True})
    await ana.call("DELETE", f"/followers/{cy.account_id}")
    post = await ana.publish("for followers")
    thread_id = await open_group(bo, ana, cy)
    await cy.call("PUT", f"/direct/threads/{thread_id}/acceptance")

    await Device(bo).send(thread_id, "look", post_id=post["post_id"])

    for person, sees in ((ana, True), (bo, True), (cy, False)):
        shown = await last(person, thread_id)
        assert (shown["kind"], shown["text"]) == ("post", "look")
        assert (shown["post"] is not None) == sees
        if sees:
            assert shown["post"]["post"]["post_id"] == post["post_id"]
            assert shown["post"]["caption"] == "for followers"
    answer = Device(cy).try_send(thread_id, post_id=post["post_id"])
    assert await code(answer) == "post_not_found"

    await ana.call("DELETE", f"/posts/{post['post_id']}")
    assert (await last(bo, thread_id))["post"] is None


async def test_a_shared_story_is_shown_while_the_reader_may_see_it(friends: Friends) -> None:
    ana, bo, cy = friends
    story = await publish_story(ana, audience="close_friends")
    thread_id = await open_group(ana, bo, cy)
    await ana.call("PUT", f"/close-friends/{bo.account_id}")

    await Device(ana).send(thread_id, "", story_id=story["story_id"])

    assert (await last(bo, thread_id))["story"]["story_id"] == story["story_id"]
    assert (await last(cy, thread_id))["story"] is None
    assert await code(Device(cy).try_send(thread_id, story_id=story["story_id"])) == "story_not_found"

    await ana.call("DELETE", f"/stories/{story['story_id']}")
    assert (await last(bo, thread_id))["story"] is None


async def test_a_message_has_a_text_or_something_to_share_and_not_two(friends: Friends) -> None:
    ana, bo, _ = friends
    thread_id = await open_pair(ana, bo)
    post = await ana.publish()
    story = await publish_story(ana)

    assert await code(Device(ana).try_send(thread_id, " ")) == "message_invalid"
    both = Device(ana).try_send(thread_id, "", post_id=post["post_id"], story_id=story["story_id"])
    assert await code(both) == "message_invalid"


async def test_a_reply_to_a_story_lands_in_the_thread_once(ana: Person, bo: Person, rooms: Rooms) -> None:
    story = await publish_story(ana)
    replied = await bo.call("POST", f"/stories/{story['story_id']}/replies", json={"text": "where is that?"})
    assert replied.status_code == 201, replied.text
    events = await stored_events(rooms)

    await handle(rooms, [*events, *events])

    assert len(await inbox(bo)) == 1
    thread_id = (await inbox(ana, "requests"))[0]["thread_id"]
    shown = (await ana.call("GET", f"/direct/threads/{thread_id}/messages")).json()["messages"]
    assert [(each["kind"], each["text"]) for each in shown] == [("story_reply", "where is that?")]
    assert shown[0]["story"]["story_id"] == story["story_id"]


async def test_a_reply_to_a_story_of_somebody_who_takes_no_messages_stays_a_reply(
    ana: Person, bo: Person, rooms: Rooms
) -> None:
    await ana.call("PUT", "/direct/settings", json={"audience": "nobody", "preview": "text"})
    story = await publish_story(ana)
    await bo.call("POST", f"/stories/{story['story_id']}/replies", json={"text": "hello"})

    await handle(rooms, await stored_events(rooms))

    assert await inbox(ana, "requests") == []
