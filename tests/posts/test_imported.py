"""Imported posts: their own time orders walls and topics; no feed, no notification, no daily limit, one per key."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.notifications.support import list_notifications
from tests.posts.people import follow, id_of, run_sql
from tests.support import Person, eventually
from tintype.base.ids import MediaId
from tintype.posts import DraftMedia, ImportedPost, PublishedPost
from tintype.wiring import Rooms
from tintype.worker import Worker

LONG_AGO = datetime(1969, 7, 20, 20, 17, tzinfo=UTC)


async def bring(rooms: Rooms, person: Person, key: str, posted_at: datetime, **fields: Any) -> PublishedPost:
    media_id = MediaId(int((await person.upload()).json()["media_id"]))
    imported = ImportedPost(key=key, posted_at=posted_at, media=(DraftMedia(media_id),), **fields)
    return await rooms.posts.publish_imported(id_of(person), imported)


async def wall(viewer: Person, owner: Person, *, limit: int) -> list[str]:
    """Every post of a wall, read page by page."""
    found: list[str] = []
    cursor = None
    while True:
        params = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        page = (await viewer.call("GET", f"/accounts/{owner.account_id}/posts", params=params)).json()
        found += [each["post_id"] for each in page["posts"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 3])
async def test_a_wall_is_ordered_by_own_times_and_paged_exactly_even_among_equal_ones(
    rooms: Rooms, ana: Person, bo: Person, limit: int
) -> None:
    live = (await ana.publish("today"))["post_id"]
    same = datetime(2015, 6, 1, 12, tzinfo=UTC)
    times = [same, LONG_AGO, same, datetime(2019, 1, 1, tzinfo=UTC), same]
    made = [str((await bring(rooms, ana, f"k{number}", each)).post_id) for number, each in enumerate(times)]
    later = (await ana.publish("later"))["post_id"]

    assert await wall(bo, ana, limit=limit) == [later, live, made[3], made[4], made[2], made[0], made[1]]
    assert await wall(ana, ana, limit=limit) == await wall(bo, ana, limit=limit)
    profile = (await bo.call("GET", "/profiles/ana")).json()
    assert [each["post_id"] for each in profile["posts"]][-1] == made[1]
    assert profile["posts"][-1]["created_at"] == "1969-07-20T20:17:00Z"
    post = (await bo.call("GET", f"/posts/{made[1]}")).json()
    assert post["created_at"] == "1969-07-20T20:17:00Z"


@pytest.mark.slow
async def test_a_page_continues_after_a_post_that_was_deleted_meanwhile(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    made = [
        str((await bring(rooms, ana, f"k{year}", datetime(year, 1, 1, tzinfo=UTC))).post_id)
        for year in (2011, 2012, 2013)
    ]
    params = {"limit": 1}
    first = (await bo.call("GET", f"/accounts/{ana.account_id}/posts", params=params)).json()
    await ana.call("DELETE", f"/posts/{made[2]}")

    second = await bo.call(
        "GET", f"/accounts/{ana.account_id}/posts", params={**params, "cursor": first["next_cursor"]}
    )

    assert [each["post_id"] for each in second.json()["posts"]] == [made[1]]


@pytest.mark.slow
async def test_an_import_reaches_no_feed_and_notifies_nobody(
    rooms: Rooms, ana: Person, bo: Person, working: Worker
) -> None:
    await follow(bo, ana)
    await bo.feed()
    await bring(rooms, ana, "k", LONG_AGO, caption="Hello @bo #moon")
    archived = await bring(rooms, ana, "k2", LONG_AGO, is_archived=True)
    await ana.call("DELETE", f"/posts/{archived.post_id}/archive")
    last = (await ana.publish("now"))["post_id"]

    async def has_arrived() -> bool:
        return [each["post_id"] for each in (await bo.feed())["posts"]] == [last]

    await eventually(has_arrived, what="the live post alone is in the feed")
    await rooms.redis.flushdb()  # the timelines are built anew, from the shards
    assert [each["post_id"] for each in (await bo.feed())["posts"]] == [last]
    assert [each["post_id"] for each in (await ana.feed())["posts"]] == [last]
    assert [each["kind"] for each in await list_notifications(bo)] == []
    assert working is not None


@pytest.mark.slow
async def test_a_topic_lists_imported_posts_by_their_own_time(
    rooms: Rooms, ana: Person, bo: Person, working: Worker
) -> None:
    old = [
        str((await bring(rooms, ana, f"k{year}", datetime(year, 1, 1, tzinfo=UTC), caption="#moon")).post_id)
        for year in (2012, 2010, 2011)
    ]
    live = (await ana.publish("#moon"))["post_id"]
    expected = [live, old[0], old[2], old[1]]

    async def pages() -> list[str]:
        found: list[str] = []
        cursor = None
        while True:
            params = {"limit": 1, **({"cursor": cursor} if cursor else {})}
            answer = await bo.call("GET", "/tags/moon/posts", params=params)
            if answer.status_code != 200:
                return found
            found += [each["post_id"] for each in answer.json()["posts"]]
            cursor = answer.json()["next_cursor"]
            if cursor is None:
                return found

    async def are_listed() -> bool:
        return await pages() == expected

    await eventually(are_listed, what="all four are listed in the order of their times")
    assert working is not None


@pytest.mark.slow
async def test_one_post_per_key_even_after_it_was_deleted(rooms: Rooms, ana: Person, bo: Person) -> None:
    first = await bring(rooms, ana, "k", LONG_AGO)
    again = await bring(rooms, ana, "k", LONG_AGO)
    others = await bring(rooms, bo, "k", LONG_AGO)
    await ana.call("DELETE", f"/posts/{first.post_id}")
    deleted = await bring(rooms, ana, "k", LONG_AGO)

    assert (again.post_id, again.is_new) == (first.post_id, False)
    assert (deleted.post_id, deleted.is_new) == (first.post_id, False)
    assert others.is_new
    assert await rooms.posts.which_imported(id_of(ana), ["k", "other"]) == {"k"}


@pytest.mark.slow
async def test_imports_do_not_count_towards_the_daily_limit(rooms: Rooms, ana: Person) -> None:
    limit = rooms.settings.posts_per_day
    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO posts (author_id, import_key, posted_at) "
        f"SELECT {ana.account_id}, n::text, now() FROM generate_series(1, {limit}) AS n",
    )

    assert (await bring(rooms, ana, "one more", LONG_AGO)).is_new
    assert (await ana.publish("still allowed"))["post_id"]


@pytest.mark.slow
async def test_archived_imports_are_seen_by_their_owner_alone_in_the_order_of_their_times(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    made = [
        str((await bring(rooms, ana, f"k{n}", datetime(year, 1, 1, tzinfo=UTC), is_archived=True)).post_id)
        for n, year in enumerate((2012, 2010, 2011))
    ]
    found: list[str] = []
    cursor = None
    for _ in made:
        params = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = (await ana.call("GET", "/accounts/me/archive", params=params)).json()
        found += [each["post_id"] for each in page["posts"]]
        cursor = page["next_cursor"]

    assert found == [made[0], made[2], made[1]]
    assert cursor is None
    assert await wall(bo, ana, limit=10) == []
    assert (await bo.call("GET", f"/posts/{made[0]}")).status_code == 404
    assert (await bo.call("GET", "/profiles/ana")).json()["post_count"] == 0


@pytest.mark.slow
async def test_a_profile_is_read_in_the_order_of_an_index(rooms: Rooms, ana: Person) -> None:
    """PostgreSQL inlines `id_time`: otherwise the order would be computed and sorted for every post of the author."""
    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO posts (author_id) SELECT {ana.account_id} FROM generate_series(1, 2000)",
    )
    await run_sql(rooms, id_of(ana), "ANALYZE posts")
    plan = await run_sql(
        rooms,
        id_of(ana),
        "EXPLAIN SELECT id FROM posts "
        f"WHERE author_id = {ana.account_id} AND pinned_at IS NULL "
        "AND archived_at IS NULL AND hidden_at IS NULL AND deleted_at IS NULL "
        # Ids run ahead of the clock: of those just drawn none may be older than now, and the plan would be for one row.
        "AND (coalesce(posted_at, shardwright.id_time(id)), id) < (now() + interval '1 hour', 9000000000000000000) "
        "ORDER BY coalesce(posted_at, shardwright.id_time(id)) DESC, id DESC LIMIT 13",
    )
    text = "\n".join(row[0] for row in plan)

    assert "posts_wall" in text
    assert "Sort" not in text
    assert "id_time" not in text
