"""Scheduled posts: their author's alone until their time, published exactly once, judged when they are published."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx import AsyncClient

from tests.notifications.support import list_notifications
from tests.posts.people import block, follow, id_of, run_sql
from tests.support import Person, eventually, join, set_status
from tintype.base.ids import AccountId
from tintype.wiring import Rooms, build_rooms
from tintype.worker import Worker

PATH = "/scheduled-posts"


def later(days: float = 1) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


async def schedule(person: Person, publish_at: str | None = None, **fields: Any) -> dict[str, Any]:
    media_id = (await person.upload()).json()["media_id"]
    body = {"media_ids": [media_id], "publish_at": publish_at or later(), **fields}
    answer = await person.call("POST", PATH, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def make_due(rooms: Rooms, scheduled: dict[str, Any]) -> None:
    """Let its time come, as if Redis had not been told of it."""
    scheduled_id = int(scheduled["scheduled_id"])
    await run_sql(
        rooms,
        scheduled_id,
        f"UPDATE scheduled_posts SET publish_at = now(), due_at = now() WHERE id = {scheduled_id}",
    )


async def listed(person: Person) -> list[dict[str, Any]]:
    return (await person.call("GET", PATH)).json()["scheduled"]


async def wall(viewer: Person, owner: Person) -> list[str]:
    page = (await viewer.call("GET", f"/accounts/{owner.account_id}/posts")).json()
    return [each["post_id"] for each in page["posts"]]


async def test_a_scheduled_post_is_its_authors_alone_and_appears_at_its_time(
    rooms: Rooms, ana: Person, bo: Person, working: Worker
) -> None:
    await follow(bo, ana)
    await bo.feed()
    made = await schedule(ana, caption="Good morning @bo #dawn", alt_texts=["A sunrise"])
    photo_url = made["media"][0]["url"]

    assert [each["scheduled_id"] for each in await listed(ana)] == [made["scheduled_id"]]
    assert await listed(bo) == []
    assert (await bo.call("GET", f"{PATH}/{made['scheduled_id']}")).status_code == 404
    assert await wall(ana, ana) == []
    assert (await ana.client.get(photo_url)).status_code == 200
    assert (await ana.call("GET", "/accounts/me")).json()["post_count"] == 0

    await make_due(rooms, made)
    before = datetime.now(UTC) - timedelta(seconds=1)
    await rooms.posts.sweep_scheduled()

    assert await listed(ana) == []
    (post_id,) = await wall(bo, ana)
    post = (await bo.call("GET", f"/posts/{post_id}")).json()
    assert post["caption"] == "Good morning @bo #dawn"
    assert post["media"][0]["alt_text"] == "A sunrise"
    assert datetime.fromisoformat(post["created_at"]) >= before

    async def has_reached_bo() -> bool:
        in_feed = [each["post_id"] for each in (await bo.feed())["posts"]] == [post_id]
        kinds = [each["kind"] for each in await list_notifications(bo)]
        tag = await bo.call("GET", "/tags/dawn/posts")
        return in_feed and len(kinds) == 1 and tag.status_code == 200 and len(tag.json()["posts"]) == 1

    await eventually(has_reached_bo, what="feed, notification and hashtag have the post")
    assert working is not None


async def test_however_many_workers_publish_it_there_is_one_post(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    made = [await schedule(ana, caption=f"number {number}") for number in range(3)]
    for each in made:
        await make_due(rooms, each)
    others = [build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.nats) for _ in range(3)]

    await asyncio.gather(*(each.posts.sweep_scheduled() for each in (rooms, *others)))
    await rooms.posts.sweep_scheduled()

    assert len(await wall(bo, ana)) == 3
    assert (await bo.call("GET", "/profiles/ana")).json()["post_count"] == 3


async def test_a_post_that_is_due_soon_is_known_to_redis_and_a_redis_that_lost_it_is_noticed(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await rooms.posts.sweep_scheduled()
    soon = await schedule(ana, later(days=-1 / 86_400))
    await rooms.posts.publish_due()
    assert len(await wall(bo, ana)) == 1
    assert await listed(ana) == []

    lost = await schedule(ana)
    await make_due(rooms, lost)
    await rooms.posts.publish_due()
    assert [each["scheduled_id"] for each in await listed(ana)] == [lost["scheduled_id"]]
    await rooms.redis.flushdb()
    await rooms.posts.publish_due()
    assert await listed(ana) == []
    assert soon["problem"] is None


async def test_repeating_the_request_schedules_one_post_even_after_it_was_published(
    rooms: Rooms, ana: Person
) -> None:
    media_id = (await ana.upload()).json()["media_id"]
    body = {"media_ids": [media_id], "publish_at": later()}
    headers = {"Idempotency-Key": "once"}
    first = await ana.call("POST", PATH, json=body, headers=headers)
    again = await ana.call("POST", PATH, json=body, headers=headers)
    other = await ana.call("POST", PATH, json={**body, "caption": "another"}, headers=headers)
    await ana.call("POST", f"{PATH}/{first.json()['scheduled_id']}/publish")
    published = await ana.call("POST", PATH, json=body, headers=headers)

    assert again.json()["scheduled_id"] == first.json()["scheduled_id"]
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert (published.status_code, published.json()["code"]) == (409, "scheduled_post_published")
    assert len(await wall(ana, ana)) == 1
    assert rooms is not None


async def test_it_can_be_edited_moved_published_now_and_cancelled(rooms: Rooms, ana: Person) -> None:
    first, second = await schedule(ana, later(1), caption="one"), await schedule(ana, later(2))
    media_id = first["media"][0]["media_id"]
    edit = {
        "caption": "changed",
        "publish_at": later(3),
        "media": [{"media_id": media_id, "alt_text": "new"}],
        "comments_enabled": False,
    }
    edited = await ana.call("PATCH", f"{PATH}/{first['scheduled_id']}", json=edit)

    assert edited.status_code == 200, edited.text
    assert edited.json()["caption"] == "changed"
    assert edited.json()["media"][0]["alt_text"] == "new"
    assert [each["scheduled_id"] for each in await listed(ana)] == [
        second["scheduled_id"],
        first["scheduled_id"],
    ]
    published = await ana.call("POST", f"{PATH}/{first['scheduled_id']}/publish")
    assert published.status_code == 201, published.text
    assert (published.json()["caption"], published.json()["comments_enabled"]) == ("changed", False)
    assert (await ana.call("DELETE", f"{PATH}/{second['scheduled_id']}")).status_code == 204
    assert await listed(ana) == []
    gone = await ana.call("POST", f"{PATH}/{second['scheduled_id']}/publish")
    assert (gone.status_code, gone.json()["code"]) == (404, "scheduled_post_not_found")
    photos = await run_sql(
        rooms, id_of(ana), f"SELECT state FROM media WHERE id = {second['media'][0]['media_id']}"
    )
    assert [row["state"] for row in photos] in ([], ["deleted"])


async def test_visibility_and_suspension_are_judged_when_it_is_published(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo = await join(client, "cleo")
    media_id = (await ana.upload()).json()["media_id"]
    tag = {"media_id": media_id, "account_id": bo.account_id, "x": 0.5, "y": 0.5}
    body = {"media_ids": [media_id], "publish_at": later(), "tagged": [tag], "caption": "with @bo"}
    tagged = (await ana.call("POST", PATH, json=body)).json()
    assert [each["username"] for each in tagged["media"][0]["tagged"]] == ["bo"]
    await block(rooms, bo, ana)
    await rooms.accounts.invalidate(id_of(ana), id_of(bo))
    await make_due(rooms, tagged)
    await rooms.posts.sweep_scheduled()
    (post_id,) = await wall(ana, ana)
    post = (await ana.call("GET", f"/posts/{post_id}")).json()
    assert post["media"][0]["tagged"] == []
    assert [span for span in post["spans"] if span["kind"] == "mention"] == []

    held = await schedule(ana)
    await make_due(rooms, held)
    await set_status(rooms, id_of(ana), "suspended")
    await rooms.posts.sweep_scheduled()
    await set_status(rooms, id_of(ana), "active")
    await rooms.posts.sweep_scheduled()

    (waiting,) = await rooms.posts.scheduled.list_of(id_of(ana))  # her sessions ended with the suspension
    assert (waiting.problem, waiting.due_at) == ("account_inactive", None)
    assert str(waiting.id) == held["scheduled_id"]
    assert len(await wall(cleo, ana)) == 1
    assert await rooms.posts.publish_scheduled(waiting.id, id_of(ana))
    assert len(await wall(cleo, ana)) == 2


async def test_the_daily_limit_delays_it_and_bounds_what_is_scheduled_for_a_day(
    rooms: Rooms, ana: Person
) -> None:
    limit = rooms.settings.posts_per_day
    made = await schedule(ana)
    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO posts (author_id) SELECT {ana.account_id} FROM generate_series(1, {limit})",
    )
    await make_due(rooms, made)
    await rooms.posts.sweep_scheduled()
    (waiting,) = await listed(ana)
    assert waiting["problem"] == "daily_limit"
    assert datetime.fromisoformat(waiting["due_at"]) > datetime.now(UTC) + timedelta(hours=23)
    now = await ana.call("POST", f"{PATH}/{made['scheduled_id']}/publish")
    assert (now.status_code, now.json()["code"]) == (429, "too_many_posts")

    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO scheduled_posts (author_id, publish_at, draft, media_ids, body_hash) "
        f"SELECT {ana.account_id}, now() + interval '10 days', '', '{{}}', '' FROM generate_series(1, {limit})",
    )
    media_id = (await ana.upload()).json()["media_id"]
    body = {"media_ids": [media_id], "publish_at": later(10.2)}
    full = await ana.call("POST", PATH, json=body)
    assert (full.status_code, full.json()["code"]) == (409, "too_many_scheduled")
    assert (await ana.call("POST", PATH, json={**body, "publish_at": later(12)})).status_code == 201


@pytest.mark.parametrize("days", [-8, 400])
async def test_a_time_long_ago_or_far_away_is_refused(ana: Person, days: int) -> None:
    media_id = (await ana.upload()).json()["media_id"]
    answer = await ana.call("POST", PATH, json={"media_ids": [media_id], "publish_at": later(days)})

    assert (answer.status_code, answer.json()["code"]) == (400, "publish_time_invalid")


async def test_photos_wait_for_it_and_belong_to_one_post(rooms: Rooms, ana: Person) -> None:
    made = await schedule(ana, later(60))
    media_id = made["media"][0]["media_id"]
    rows = await run_sql(rooms, id_of(ana), f"SELECT expires_at FROM media WHERE id = {media_id}")
    twice = await ana.call("POST", PATH, json={"media_ids": [media_id], "publish_at": later(61)})

    assert rows[0]["expires_at"] > datetime.now(UTC) + timedelta(days=85)
    assert (twice.status_code, twice.json()["code"]) == (400, "media_invalid")
    await ana.call("DELETE", f"/media/{media_id}")
    await make_due(rooms, made)
    await rooms.posts.sweep_scheduled()
    assert [each["problem"] for each in await listed(ana)] == ["media_invalid"]
    await run_sql(rooms, id_of(ana), "UPDATE scheduled_posts SET publish_at = now() - interval '31 days'")
    await rooms.posts.purge_deleted()
    assert await listed(ana) == []


async def test_a_scheduled_post_is_in_the_export_and_goes_with_its_author(rooms: Rooms, ana: Person) -> None:
    made = await schedule(ana, caption="for later")
    room, account_id = rooms.posts.personal_data, AccountId(int(ana.account_id))

    records = [record async for record in room.export(account_id)]
    assert [each.content["caption"] for each in records if each.file == "scheduled_posts.json"] == [
        "for later"
    ]
    assert await room.count_left(account_id) == 1
    while await room.erase(account_id):
        pass
    assert await room.count_left(account_id) == 0
    assert made["problem"] is None
