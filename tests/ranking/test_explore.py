"""Explore shows popular posts of strangers, only those the viewer may see, and each once."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.ranking.helpers import change, handle, like
from tests.support import Person, join
from tintype.api.http.cursors import encode_compound_cursor
from tintype.wiring import Rooms


async def explore(person: Person, **params: Any) -> dict[str, Any]:
    answer = await person.call("GET", "/explore", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(page: dict[str, Any]) -> list[str]:
    return [each["post_id"] for each in page["posts"]]


@pytest.fixture
async def cy(client: AsyncClient) -> Person:
    return await join(client, "cy")


async def test_popular_posts_come_first_and_those_of_followees_and_oneself_are_left_out(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person, cy: Person
) -> None:
    friends = [await join(client, f"friend{number}") for number in range(6)]
    liked, plain = await ana.publish(), await ana.publish()
    await bo.publish()
    followed = await cy.publish()
    await bo.call("PUT", f"/accounts/{cy.account_id}/follow")
    for number, friend in enumerate(friends):
        await handle(rooms, like(liked, ana, friend, change(rooms, number)))
        await handle(rooms, like(followed, cy, friend, change(rooms, number)))
    rooms.ranking.feature_store.evict_all()

    assert ids(await explore(bo)) == [liked["post_id"], plain["post_id"]]
    assert followed["post_id"] in ids(await explore(ana))


@pytest.mark.slow
async def test_a_scroll_shows_each_post_once_while_posts_are_published_and_deleted(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    posts = [await ana.publish(f"{number}") for number in range(7)]
    found: list[str] = []
    page: dict[str, Any] = {"next_cursor": None}
    gone: dict[str, Any] = {}
    for turn in range(10):
        params = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
        page = await explore(bo, limit=2, **params)
        found += ids(page)
        if turn == 0:
            late = await ana.publish("late")
            await handle(rooms, like(late, ana, bo, change(rooms)))
            [gone] = [each for each in posts if each["post_id"] not in found][-1:]
            await ana.call("DELETE", f"/posts/{gone['post_id']}")
        if not page["has_more"]:
            break

    assert sorted(found) == sorted(each["post_id"] for each in posts if each is not gone)


async def test_privacy_and_blocks_take_effect_at_once(
    rooms: Rooms, ana: Person, bo: Person, cy: Person
) -> None:
    shown, other = await ana.publish(), await cy.publish()
    assert set(ids(await explore(bo))) == {shown["post_id"], other["post_id"]}

    assert (await ana.call("PUT", f"/blocks/{bo.account_id}")).status_code == 204
    assert (await cy.call("PATCH", "/accounts/me", json={"is_private": True})).status_code == 200

    assert ids(await explore(bo)) == []


async def test_popular_posts_that_redis_lost_are_refilled_from_the_shards(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    quiet, liked = await ana.publish(), await ana.publish()
    await bo.call("PUT", f"/posts/{quiet['post_id']}/like")
    assert set(ids(await explore(bo))) == {quiet["post_id"], liked["post_id"]}

    await rooms.redis.flushdb()
    rooms.ranking.feature_store.evict_all()
    await handle(rooms, like(liked, ana, bo, change(rooms)))

    assert set(ids(await explore(bo))) == {quiet["post_id"], liked["post_id"]}


async def test_an_order_is_made_once_a_minute_whatever_the_cursor(
    rooms: Rooms, client: AsyncClient, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [6_000_000.0]
    monkeypatch.setattr(rooms.ranking.explore, "_clock", lambda: now[0])
    pattern = f"{rooms.settings.namespace}:ranking:explore:*"
    for _ in range(3):
        await ana.publish()
    for cursor in (None, encode_compound_cursor(1, 0), encode_compound_cursor(2**62, 2**62)):
        answer = await client.get("/api/v1/explore", params={"cursor": cursor} if cursor else {})
        assert answer.status_code == 200
    assert len(await rooms.redis.keys(pattern)) == 1

    now[0] += 60
    await client.get("/api/v1/explore")

    assert len(await rooms.redis.keys(pattern)) == 2


async def test_a_cursor_whose_order_was_lost_still_works(rooms: Rooms, ana: Person, bo: Person) -> None:
    for number in range(4):
        await ana.publish(f"{number}")
    first = await explore(bo, limit=2)

    await rooms.redis.flushdb()

    assert len(ids(await explore(bo, limit=2, cursor=first["next_cursor"]))) == 2
    refused = await bo.call("GET", "/explore", params={"cursor": "rubbish"})
    assert (refused.status_code, refused.json()["code"]) == (400, "cursor_invalid")


async def test_guests_explore_where_they_may_read(rooms: Rooms, client: AsyncClient, ana: Person) -> None:
    post = await ana.publish()

    assert ids((await client.get("/api/v1/explore")).json()) == [post["post_id"]]
