"""The tray: oneself, then the unseen, the closer the earlier; it survives the loss of Redis."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from httpx import AsyncClient
from redis.exceptions import ConnectionError as RedisGone

from tests.stories.showing import hear, id_of, ring_names, show, tray
from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.base.wire import Command, PipelinedWire
from tintype.stories import StoryId, StoryPublished, StoryReplied, StorySeen
from tintype.stories.rings import Shown
from tintype.wiring import Rooms, build_rooms


@pytest.fixture
async def authors(client: AsyncClient, ana: Person) -> list[Person]:
    """Five people whom ana follows, each with a story, the first to join the first to show."""
    people = [await join(client, f"author{number}") for number in range(5)]
    for person in people:
        await ana.call("PUT", f"/accounts/{person.account_id}/follow")
        await show(person)
    return people


async def test_the_unseen_come_first_and_the_latest_of_them(ana: Person, authors: list[Person]) -> None:
    await show(ana)
    before = await tray(ana)
    assert [ring["username"] for ring in before["story_ring"]] == [
        "ana", "author4", "author3", "author2", "author1", "author0",
    ]  # fmt: skip
    assert (before["story_ring"][0]["is_self"], before["story_ring"][0]["has_unseen"]) == (True, False)

    for ring in before["story_ring"][1:3]:
        for story in before["stories"][ring["user_id"]]:
            await ana.call("PUT", f"/stories/{story['story_id']}/seen")

    after = await tray(ana)
    assert [ring["username"] for ring in after["story_ring"]] == [
        "ana", "author2", "author1", "author0", "author4", "author3",
    ]  # fmt: skip
    assert [ring["has_unseen"] for ring in after["story_ring"]] == [False, True, True, True, False, False]

    await show(authors[4])
    again = (await tray(ana))["story_ring"][1]
    assert (again["username"], again["story_count"], again["unseen_count"]) == ("author4", 2, 1)


async def test_the_closer_come_first_among_the_unseen_and_among_the_seen(
    rooms: Rooms, ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    close = {id_of(authors[1]): 0.9, id_of(authors[3]): 0.5}

    async def affinities(_viewer: AccountId, others: Iterable[AccountId]) -> dict[AccountId, float]:
        return {each: close.get(each, 0.0) for each in others}

    monkeypatch.setattr(rooms.ranking, "affinities", affinities)
    assert (await ring_names(ana))[:2] == ["author1", "author3"]

    shown = (await tray(ana))["stories"]
    seen = [story["story_id"] for person in (authors[1], authors[3]) for story in shown[person.account_id]]
    assert (await ana.call("PUT", "/stories/seen", json={"story_ids": seen})).status_code == 204

    assert await ring_names(ana) == ["author4", "author2", "author0", "author1", "author3"]


async def test_whoever_watches_and_answers_comes_closer(
    rooms: Rooms, ana: Person, authors: list[Person]
) -> None:
    watched, answered, other = (id_of(person) for person in authors[:3])

    await hear(rooms, StorySeen(StoryId(watched), watched, id_of(ana)))
    await hear(rooms, StoryReplied(answered, StoryId(answered), answered, id_of(ana), "Lovely"))

    near = await rooms.ranking.affinities(id_of(ana), [watched, answered, other])
    assert near[answered] > near[watched] > near[other]


async def test_three_come_whole_and_the_next_are_named(ana: Person, authors: list[Person]) -> None:
    await show(ana)
    first, second = await show(authors[4]), await show(authors[4])
    await ana.call("PUT", f"/stories/{first['story_id']}/seen")

    found = await tray(ana)

    whole = [ana, authors[4], authors[3], authors[2]]
    assert set(found["stories"]) == {person.account_id for person in whole}
    assert found["prefetch"]["user_ids"] == [authors[1].account_id, authors[0].account_id]
    own = found["stories"][authors[4].account_id]
    assert [story["story_id"] for story in own][1:] == [first["story_id"], second["story_id"]], "oldest first"
    assert found["prefetch"]["media_urls"] == [
        next(story for story in found["stories"][person.account_id] if not story["seen"])["media_url"]
        for person in whole[1:]
    ]
    assert all(86_000 < story["ttl_remaining"] <= 86_400 for story in own)


async def test_those_who_are_muted_leave_room_for_the_next(
    ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stories.tray.JUDGED_AT_ONCE", 2)
    monkeypatch.setattr("tintype.stories.tray.MOST_RINGS", 3)
    for person in authors[3:]:
        await ana.call("PUT", f"/mutes/{person.account_id}", json={"stories": True})

    assert await ring_names(ana) == ["author2", "author1", "author0"]


async def test_a_redis_that_is_away_hides_nobody_and_its_return_changes_nothing(
    rooms: Rooms, ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Away(PipelinedWire):
        async def ask(self, *commands: Command) -> list[Any]:
            raise RedisGone(f"away on purpose, not {len(commands)}")

    with monkeypatch.context() as patch:
        patch.setattr(rooms.stories.rings, "_wire", Away(rooms.redis))
        assert len(await ring_names(ana)) == len(authors)
        await show(authors[0])
        assert (await ring_names(ana))[0] == "author0"
        with pytest.raises(RedisGone):
            await hear(rooms, StoryPublished(StoryId(1), id_of(authors[0]), ()))

    await hear(rooms, StoryPublished(StoryId(1), id_of(authors[0]), ()))
    assert (await ring_names(ana))[0] == "author0"


async def test_an_emptied_redis_changes_nothing(rooms: Rooms, ana: Person, authors: list[Person]) -> None:
    before = await tray(ana)

    await rooms.redis.flushdb()

    assert [ring["username"] for ring in (await tray(ana))["story_ring"]] == [
        ring["username"] for ring in before["story_ring"]
    ]
    await show(authors[0])
    assert (await ring_names(ana))[0] == "author0"


async def test_a_loader_that_read_before_a_story_does_not_hide_it(
    rooms: Rooms, friends: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody reads that there is nothing, a story appears, and only then the reading is stored: it is not."""
    ana, bo = friends

    async def load_slowly(authors: Sequence[AccountId]) -> dict[AccountId, Shown]:
        await show(ana)
        return dict.fromkeys(authors, ())

    rings = rooms.stories.rings
    with monkeypatch.context() as patch:
        patch.setattr(rings, "_load", load_slowly)
        assert await rings.find([id_of(ana)]) == {}

    assert await ring_names(bo) == ["ana"]


async def test_a_ring_tells_of_stories_for_close_friends(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    await show(ana)
    assert (await tray(bo))["story_ring"][0]["is_close_friends"] is False

    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    await show(ana, audience="close_friends")

    ring = (await tray(bo))["story_ring"][0]
    assert (ring["is_close_friends"], ring["story_count"]) == (True, 2)


async def test_a_new_follow_shows_the_stories_there_are(ana: Person, bo: Person) -> None:
    await show(ana)
    assert await ring_names(bo) == []

    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    assert await ring_names(bo) == ["ana"]


async def test_a_story_of_another_process_shows_at_once_in_a_tray_that_is_near(
    rooms: Rooms, friends: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = friends
    elsewhere = build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.bus)
    for _ in range(3):
        assert await ring_names(bo) == []
    await rooms.stories.rings.settle()
    assert id_of(ana) in rooms.cache.wire.near.shelf(f"{rooms.settings.namespace}:ring:", int, 0).here

    monkeypatch.setattr(rooms.stories.rings, "drop", elsewhere.stories.rings.drop)
    await show(ana)

    assert await ring_names(bo) == ["ana"]
    await elsewhere.notifications.close()
