"""Avatars, comments and stories of the demo people."""

import msgspec
import pytest

from tintype.demo import Demo, Person, load_people
from tintype.demo.portraits import render_portrait
from tintype.wiring import Rooms

PASSWORD = "a password for tests"


def quiet(_stage: str, _done: int, _total: int) -> None:
    """Ignore the progress."""


def few(count: int = 4) -> tuple[Person, ...]:
    return tuple(msgspec.structs.replace(each, photos=each.photos[:1]) for each in load_people()[:count])


@pytest.mark.slow
async def test_activity_is_added_and_a_repeat_changes_nothing(rooms: Rooms) -> None:
    people = few()
    demo = Demo(rooms, password=PASSWORD, pause_s=0.02)
    await demo.populate(people, quiet)

    first = await demo.add_activity(people, quiet)
    again = await demo.add_activity(people, quiet)

    assert first == again
    assert first.stories > 0
    story_count = 0
    for person in people:
        account = await rooms.accounts.get_by_name(person.username)
        assert account.avatar_folder
        assert account.bio == person.bio
        _, stories = await rooms.stories.list_of_account(account.id, viewer=account.id)
        story_count += len(stories)
    assert story_count == first.stories


@pytest.mark.slow
async def test_a_newcomer_follows_some_of_the_demo_people(rooms: Rooms) -> None:
    me = (await rooms.accounts.sign_up("newcomer", PASSWORD)).account
    people = few(3)

    await Demo(rooms, password=PASSWORD, pause_s=0.02).populate(people, quiet, newcomer=me.id)

    ids = [await rooms.accounts.find_id(each.username) for each in people]
    followed = await rooms.graph.which_followed(me.id, [each for each in ids if each is not None])
    assert len(followed) == len(people)


def test_a_portrait_depends_on_the_name_alone() -> None:
    assert render_portrait("ana") == render_portrait("ana") != render_portrait("bo")
