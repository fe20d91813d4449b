import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.search.conftest import Change, Publish
from tests.support import Person, eventually, join
from tintype.base.ids import AccountId, PostId
from tintype.posts import PostRemoved
from tintype.wiring import Rooms
from tintype.worker import Worker

LISTED = Query.parse("listed", "SELECT topic, post_id FROM topic_posts")
GONE = Query.parse("gone", "UPDATE posts SET deleted_at = now() WHERE id = :post_id")
RETAGGED = Query.parse("retagged", "UPDATE posts SET hashtags = :tags::text[] WHERE id = :post_id")
STRAY_WORD = Query.parse(
    "stray_word", "INSERT INTO search_entries VALUES ('people:zo', '1', 'zoe', ' zoe', 9, '', 1)"
)
STRAY_COUNT = Query.parse("stray_count", "INSERT INTO topics (topic, post_count) VALUES ('tag:stray', 1)")
STRAY_POST = Query.parse("stray_post", "INSERT INTO topic_posts VALUES ('tag:stray', 1, 1, 0, 1)")
HIDDEN_LIKES = Query.parse("hidden_likes", "UPDATE posts SET hides_like_count = true WHERE id = :post_id")
LIKED = Query.parse("liked", "UPDATE posts SET like_count = :likes::int WHERE id = :post_id")


async def page(viewer: Person, tag: str, **params: Any) -> tuple[list[str], str | None]:
    answer = await viewer.call("GET", f"/tags/{tag}/posts", params=params)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [each["post_id"] for each in body["posts"]], body["next_cursor"]


async def count(viewer: Person, tag: str) -> int | str:
    answer = await viewer.call("GET", f"/tags/{tag}")
    return answer.json()["post_count"] if answer.status_code == 200 else answer.json()["code"]


def ids(person: Person, post_id: str) -> tuple[PostId, AccountId]:
    return PostId(int(post_id)), AccountId(int(person.account_id))


async def test_a_tag_lists_its_posts_newest_first_page_by_page(
    ana: Person, bo: Person, publish: Publish
) -> None:
    made = [await publish(who, f"Look #Sunset {n}") for n, who in enumerate([ana, bo, ana, bo, ana])]

    first, cursor = await page(bo, "sunset", limit=2)
    newcomer = await publish(ana, "#sunset")
    second, more = await page(bo, "SUNSET", limit=2, cursor=cursor)
    third, end = await page(bo, "sunset", limit=2, cursor=more)

    assert first + second + third == made[::-1]
    assert end is None
    assert (await page(bo, "sunset", limit=1))[0] == [newcomer]
    assert await count(bo, "%23sunset") == 6


async def test_guests_read_tag_pages(client: AsyncClient, ana: Person, publish: Publish) -> None:
    post_id = await publish(ana, "#sunset")

    answer = await client.get("/api/v1/tags/sunset/posts")

    assert [each["post_id"] for each in answer.json()["posts"]] == [post_id]


async def test_the_top_posts_are_ordered_by_likes_once_they_are_scored(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    made = [await publish(ana, "#sunset") for _ in range(4)]
    for post_id, likes in zip(made, (3, 0, 7, 3), strict=True):
        await rooms.shards.owner(int(post_id)).execute(LIKED, post_id=int(post_id), likes=likes)

    await rooms.search.score_topics()

    first, cursor = await page(bo, "sunset", order="top", limit=3)
    rest, end = await page(bo, "sunset", order="top", limit=3, cursor=cursor)
    assert first + rest == [made[2], made[3], made[0], made[1]]
    assert end is None


async def test_hidden_like_counts_do_not_affect_the_order(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    hidden, shown = await publish(ana, "#sunset"), await publish(ana, "#sunset")
    await rooms.shards.owner(int(hidden)).execute(LIKED, post_id=int(hidden), likes=90)
    await rooms.shards.owner(int(hidden)).execute(HIDDEN_LIKES, post_id=int(hidden))
    await rooms.shards.owner(int(shown)).execute(LIKED, post_id=int(shown), likes=1)

    await rooms.search.score_topics()

    assert (await page(bo, "sunset", order="top"))[0] == [shown, hidden]


@pytest.mark.slow
async def test_a_private_authors_posts_leave_and_come_back(
    ana: Person, bo: Person, publish: Publish, change: Change
) -> None:
    hidden, shown = await publish(ana, "#sunset"), await publish(bo, "#sunset")

    await change(ana, "is_private = true")
    assert (await page(bo, "sunset"), await count(bo, "sunset")) == (([shown], None), 1)
    await change(ana, "is_private = false")
    assert (await page(bo, "sunset"), await count(bo, "sunset")) == (([shown, hidden], None), 2)
    await change(ana, "status = 'deactivated'")
    assert (await page(bo, "sunset"), await count(bo, "sunset")) == (([shown], None), 1)


async def test_posts_of_an_account_that_became_private_are_hidden_before_its_event_arrives(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    await publish(ana, "#sunset")
    shown = await publish(bo, "#sunset")
    account_id = AccountId(int(ana.account_id))
    async with rooms.shards.owner(account_id).begin() as tx:
        await tx.connection.execute("UPDATE accounts SET is_private = true WHERE id = $1", account_id)
    await rooms.accounts.invalidate(account_id)

    assert await page(bo, "sunset") == ([shown], None)


async def test_edits_and_removals_move_posts_and_counts_in_any_order(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    made = await publish(ana, "#sunset #sea")
    home = rooms.shards.owner(int(made))

    await home.execute(RETAGGED, post_id=int(made), tags=["sea", "sky"])
    await asyncio.gather(*(rooms.search.index_post(*ids(ana, made)) for _ in range(6)))
    assert [await count(bo, tag) for tag in ("sunset", "sea", "sky")] == ["tag_not_found", 1, 1]

    await home.execute(GONE, post_id=int(made))
    removed = PostRemoved(*ids(ana, made), 1, is_deleted=True)
    handlers = [each for each in rooms.search.handlers() if each.event is PostRemoved]
    for handler in [*handlers, *handlers]:
        await handler.run(removed)
    assert [await count(bo, tag) for tag in ("sea", "sky")] == ["tag_not_found"] * 2
    assert len(await rooms.shards.everywhere().fetch(LISTED)) == 0


@pytest.mark.slow
async def test_concurrent_posts_under_one_tag_are_all_counted(rooms: Rooms, ana: Person, bo: Person) -> None:
    made = [(await ana.publish("#sunset"))["post_id"] for _ in range(12)]

    await asyncio.gather(*(rooms.search.index_post(*ids(ana, each)) for each in made * 2))

    assert await count(bo, "sunset") == 12


async def test_tags_are_completed_while_typing_with_their_counts(
    bo: Person, ana: Person, publish: Publish, rooms: Rooms
) -> None:
    for caption in ("#sunset", "#sunset", "#sunrise_lover", "#sea", "#sunset"):
        await publish(ana, caption)

    async def found(q: str) -> list[tuple[str, int]]:
        answer = await bo.call("GET", "/search/tags", params={"q": q})
        return [(each["tag"], each["post_count"]) for each in answer.json()["tags"]]

    assert await found("s") == [("sunset", 3), ("sea", 1), ("sunrise_lover", 1)] or await found("s") == [
        ("sunset", 3),
        ("sunrise_lover", 1),
        ("sea", 1),
    ]
    assert await found("#sun") == [("sunset", 3), ("sunrise_lover", 1)]
    assert await found("lov") == [("sunrise_lover", 1)]
    assert await found("snuset") == [("sunset", 3)]
    assert await found("zzz") == []


@pytest.mark.slow
async def test_a_full_topic_drops_old_posts_but_keeps_the_best_and_the_count(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [await publish(ana, "#sunset") for _ in range(6)]
    await rooms.shards.owner(int(made[0])).execute(LIKED, post_id=int(made[0]), likes=9)
    monkeypatch.setattr("tintype.search.topic_scoring.BEST", 1)
    monkeypatch.setattr("tintype.search.topic_scoring.MAX_LISTED", 3)

    await rooms.search.score_topics()
    await rooms.search.index_post(*ids(ana, made[1]))

    assert (await page(bo, "sunset"))[0] == [made[5], made[4], made[3], made[0]]
    assert await count(bo, "sunset") == 6


@pytest.mark.slow
async def test_the_worker_indexes_what_is_published(working: Worker, ana: Person, bo: Person) -> None:
    made = await ana.publish("#evening")

    async def is_listed() -> bool:
        return await count(bo, "evening") == 1 and (await page(bo, "evening"))[0] == [made["post_id"]]

    await eventually(is_listed, what="the post is listed under its hashtag")


@pytest.mark.slow
async def test_a_rebuild_of_an_empty_index_finds_everything_and_deletes_stale_entries(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person, publish: Publish
) -> None:
    await join(client, "carmen")
    place = (
        await ana.call("POST", "/places", json={"name": "Long Bridge", "latitude": 1, "longitude": 2})
    ).json()
    there = {"place_id": place["place_id"], "name": "Long Bridge", "lat": 1, "lon": 2}
    post_id = await publish(ana, "#sunset")
    await ana.call("PATCH", f"/posts/{post_id}", json={"place": there})
    await rooms.search.index_post(PostId(int(post_id)), AccountId(int(ana.account_id)))
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            for table in ("search_entries", "search_filings", "topics", "topic_posts", "place_squares"):
                await tx.connection.execute(f"DELETE FROM {table}")
    await rooms.shards.of("people:zo").execute(STRAY_WORD)
    await rooms.shards.of("tag:stray").execute(STRAY_COUNT)
    await rooms.shards.of("tag:stray").execute(STRAY_POST)
    stages: list[tuple[str, int, int]] = []

    def show(stage: str, done: int, total: int) -> None:
        stages.append((stage, done, total))

    done, again = [await rooms.search.rebuild(show) for _ in range(2)]

    assert done == {"people": 3, "posts": 1, "places": 1, "stray posts": 1, "tags": 2, "stray words": 1}
    assert (again["stray posts"], again["stray words"]) == (0, 0)
    assert stages[-1] == ("stray words", 8, 8)
    assert await count(bo, "stray") == "tag_not_found"
    for kind, q in (("people", "carm"), ("tags", "suns"), ("places", "bridg")):
        answer = await bo.call("GET", f"/search/{kind}", params={"q": q})
        assert len(answer.json()[kind]) == 1, q
    assert await page(bo, "sunset") == ([post_id], None)
    nearby = await bo.call("GET", "/places/nearby", params={"lat": 1, "lon": 2})
    assert [each["place"] for each in nearby.json()["places"]] == [place]


async def test_odd_tags_and_cursors_are_refused(ana: Person, publish: Publish) -> None:
    await publish(ana, "#sunset")
    for tag in ("%00", "nothing", "%20", "a" * 150):
        answer = await ana.call("GET", f"/tags/{tag}")
        assert (answer.status_code, answer.json()["code"]) == (404, "tag_not_found"), tag
    for cursor in ("x", "MjoxLDI", "!!", "Mjo5OTk5OTk5OTk5OTk5OSwx"):
        answer = await ana.call("GET", "/tags/sunset/posts", params={"cursor": cursor})
        assert answer.status_code in {200, 400}, cursor
        assert answer.status_code == 200 or answer.json()["code"] == "cursor_invalid"
