"""The tray: the viewer, then unseen authors by affinity, then the others; it works without Redis."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from httpx import AsyncClient
from redis.exceptions import ConnectionError as RedisGone

from tests.stories.support import handle, id_of, publish_story, tray, tray_usernames
from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.redis.client import Command, PipelinedRedisClient
from tintype.stories import StoryId, StoryPublished, StoryReplied, StorySeen
from tintype.stories.author_stories_cache import AuthorStories
from tintype.wiring import Rooms, build_rooms


@pytest.fixture
async def authors(client: AsyncClient, ana: Person) -> list[Person]:
    """Five people whom ana follows, each with a story, published in the order they joined."""
    people = [await join(client, f"author{number}") for number in range(5)]
    for person in people:
        await ana.call("PUT", f"/accounts/{person.account_id}/follow")
        await publish_story(person)
    return people


async def test_the_unseen_come_first_and_the_latest_of_them(ana: Person, authors: list[Person]) -> None:
    await publish_story(ana)
    before = await tray(ana)
    assert [ring["username"] for ring in before["story_ring"]] == [
        "ana", "author4", "author3", "author2", "author1", "author0",
    ]  # fmt: skip
    assert (before["story_ring"][0]["is_self"], before["story_ring"][0]["has_unseen"]) == (True, False)

    for ring in before["story_ring"][1:3]:
        for story in before["stories"][ring["account_id"]]:
            await ana.call("PUT", f"/stories/{story['story_id']}/seen")

    after = await tray(ana)
    assert [ring["username"] for ring in after["story_ring"]] == [
        "ana", "author2", "author1", "author0", "author4", "author3",
    ]  # fmt: skip
    assert [ring["has_unseen"] for ring in after["story_ring"]] == [False, True, True, True, False, False]

    await publish_story(authors[4])
    again = (await tray(ana))["story_ring"][1]
    assert (again["username"], again["story_count"], again["unseen_count"]) == ("author4", 2, 1)


async def test_higher_affinity_comes_first_among_unseen_and_among_seen_authors(
    rooms: Rooms, ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    close = {id_of(authors[1]): 0.9, id_of(authors[3]): 0.5}

    async def affinities(_viewer: AccountId, others: Iterable[AccountId]) -> dict[AccountId, float]:
        return {each: close.get(each, 0.0) for each in others}

    monkeypatch.setattr(rooms.ranking, "affinities", affinities)
    assert (await tray_usernames(ana))[:2] == ["author1", "author3"]

    shown = (await tray(ana))["stories"]
    seen = [story["story_id"] for person in (authors[1], authors[3]) for story in shown[person.account_id]]
    assert (await ana.call("PUT", "/stories/seen", json={"story_ids": seen})).status_code == 204

    assert await tray_usernames(ana) == ["author4", "author2", "author0", "author1", "author3"]


async def test_watching_and_replying_raise_affinity(rooms: Rooms, ana: Person, authors: list[Person]) -> None:
    watched, answered, other = (id_of(person) for person in authors[:3])

    await handle(rooms, StorySeen(StoryId(watched), watched, id_of(ana)))
    await handle(rooms, StoryReplied(answered, StoryId(answered), answered, id_of(ana), "Lovely"))

    near = await rooms.ranking.affinities(id_of(ana), [watched, answered, other])
    assert near[answered] > near[watched] > near[other]


async def test_the_first_three_authors_come_in_full_and_the_next_as_prefetch_hints(
    ana: Person, authors: list[Person]
) -> None:
    await publish_story(ana)
    first, second = await publish_story(authors[4]), await publish_story(authors[4])
    await ana.call("PUT", f"/stories/{first['story_id']}/seen")

    found = await tray(ana)

    whole = [ana, authors[4], authors[3], authors[2]]
    assert set(found["stories"]) == {person.account_id for person in whole}
    assert found["prefetch"]["account_ids"] == [authors[1].account_id, authors[0].account_id]
    own = found["stories"][authors[4].account_id]
    assert [story["story_id"] for story in own][1:] == [first["story_id"], second["story_id"]], "oldest first"
    assert found["prefetch"]["media_urls"] == [
        next(story for story in found["stories"][person.account_id] if not story["seen"])["media_url"]
        for person in whole[1:]
    ]
    assert all(86_000 < story["ttl_remaining"] <= 86_400 for story in own)


async def test_muted_authors_leave_room_for_the_next(
    ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stories.tray.CHECKED_AT_ONCE", 2)
    monkeypatch.setattr("tintype.stories.tray.MAX_RINGS", 3)
    for person in authors[3:]:
        await ana.call("PUT", f"/mutes/{person.account_id}", json={"stories": True})

    assert await tray_usernames(ana) == ["author2", "author1", "author0"]


async def test_without_redis_the_tray_is_complete_and_stays_so_when_it_returns(
    rooms: Rooms, ana: Person, authors: list[Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    class UnavailableRedis(PipelinedRedisClient):
        async def execute(self, *commands: Command) -> list[Any]:
            raise RedisGone(f"unavailable on purpose, for {len(commands)}")

    with monkeypatch.context() as patch:
        patch.setattr(rooms.stories.author_stories, "_redis_client", UnavailableRedis(rooms.redis))
        assert len(await tray_usernames(ana)) == len(authors)
        await publish_story(authors[0])
        assert (await tray_usernames(ana))[0] == "author0"
        with pytest.raises(RedisGone):
            await handle(rooms, StoryPublished(StoryId(1), id_of(authors[0]), ()))

    await handle(rooms, StoryPublished(StoryId(1), id_of(authors[0]), ()))
    assert (await tray_usernames(ana))[0] == "author0"


async def test_an_empty_redis_changes_nothing(rooms: Rooms, ana: Person, authors: list[Person]) -> None:
    before = await tray(ana)

    await rooms.redis.flushdb()

    assert [ring["username"] for ring in (await tray(ana))["story_ring"]] == [
        ring["username"] for ring in before["story_ring"]
    ]
    await publish_story(authors[0])
    assert (await tray_usernames(ana))[0] == "author0"


async def test_a_cache_fill_that_read_before_a_story_was_published_does_not_hide_it(
    rooms: Rooms, friends: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fill reads that there are no stories, then one is published: what the fill read is not stored."""
    ana, bo = friends

    async def load_slowly(authors: Sequence[AccountId]) -> dict[AccountId, AuthorStories]:
        await publish_story(ana)
        return dict.fromkeys(authors, ())

    cache = rooms.stories.author_stories
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_load", load_slowly)
        assert await cache.find([id_of(ana)]) == {}

    assert await tray_usernames(bo) == ["ana"]


async def test_a_ring_shows_that_it_holds_stories_for_close_friends(friends: tuple[Person, Person]) -> None:
    ana, bo = friends
    await publish_story(ana)
    assert (await tray(bo))["story_ring"][0]["is_close_friends"] is False

    await ana.call("PUT", f"/close-friends/{bo.account_id}")
    await publish_story(ana, audience="close_friends")

    ring = (await tray(bo))["story_ring"][0]
    assert (ring["is_close_friends"], ring["story_count"]) == (True, 2)


async def test_a_new_follow_shows_existing_stories(ana: Person, bo: Person) -> None:
    await publish_story(ana)
    assert await tray_usernames(bo) == []

    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    assert await tray_usernames(bo) == ["ana"]


async def test_a_story_published_by_another_process_invalidates_the_client_cache(
    rooms: Rooms, friends: tuple[Person, Person], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = friends
    elsewhere = build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.nats)
    for _ in range(3):
        assert await tray_usernames(bo) == []
    await rooms.stories.author_stories.flush()
    near = rooms.cache.redis_client.client_cache.region(f"{rooms.settings.namespace}:ring:", int, 0)
    assert id_of(ana) in near.values

    other = elsewhere.stories.author_stories
    monkeypatch.setattr(rooms.stories.author_stories, "invalidate_or_raise", other.invalidate_or_raise)
    await publish_story(ana)

    assert await tray_usernames(bo) == ["ana"]
    await elsewhere.notifications.close()
