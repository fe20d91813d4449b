"""Purging, exporting and erasing posts, likes and tags."""

from typing import Any, cast

import pytest
from httpx import AsyncClient

from tests.posts.people import id_of, run_sql
from tests.posts.test_edit_and_lifecycle import publish_with, tagged_of
from tests.support import Person, join, on_server
from tintype.base.ids import AccountId, PostId
from tintype.base.personal_data import PersonalDataHolder
from tintype.media import open_largest
from tintype.wiring import Rooms

TABLES: tuple[str, ...] = ("posts", "post_media", "post_tags", "likes", "own_likes", "tagged_in")


async def count_rows(rooms: Rooms) -> dict[str, int]:
    """How many rows each table has, on all shards."""
    total = dict.fromkeys(TABLES, 0)
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            for table in TABLES:
                total[table] += cast("int", await tx.connection.fetchval(f"SELECT count(*) FROM {table}"))
    return total


async def tables_with_rows_of(rooms: Rooms, account_id: AccountId) -> list[str]:
    """Every table of this room that still has rows of an account."""
    found: list[str] = []
    columns = {
        "posts": "author_id",
        "post_tags": "account_id",
        "likes": "account_id",
        "own_likes": "account_id",
        "tagged_in": "account_id",
    }
    for dsn in rooms.settings.postgres_admin:
        schemas = await on_server(dsn, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]{4}$'")
        for schema in schemas:
            for table, column in columns.items():
                rows = await on_server(
                    dsn, f"SELECT 1 FROM {schema[0]}.{table} WHERE {column} = {account_id} LIMIT 1"
                )
                found += [f"{schema[0]}.{table}"] * len(rows)
    return found


async def test_deleted_posts_are_purged_with_their_media_after_the_retention_time(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    old, fresh = await publish_with(ana, bo), await publish_with(ana, bo)
    for post in (old, fresh):
        await bo.call("PUT", f"/posts/{post['post_id']}/like")
        await ana.call("DELETE", f"/posts/{post['post_id']}")
    await run_sql(
        rooms,
        id_of(ana),
        f"UPDATE posts SET deleted_at = now() - interval '31 days' WHERE id = {old['post_id']}",
    )

    await rooms.posts.purge_deleted()
    await rooms.posts.purge_deleted()

    counted = await count_rows(rooms)
    assert (counted["posts"], counted["post_media"], counted["post_tags"], counted["likes"]) == (1, 1, 1, 1)
    rows = await run_sql(rooms, id_of(ana), "SELECT id FROM media WHERE state = 'deleted'")
    events = await run_sql(rooms, id_of(ana), "SELECT 1 FROM common.outbox WHERE event = 'post_purged'")
    assert [str(row["id"]) for row in rows] == [old["media"][0]["media_id"]]
    assert len(events) == 1


async def test_an_export_has_posts_photos_likes_and_tags(rooms: Rooms, ana: Person, bo: Person) -> None:
    mine, theirs = await publish_with(ana), await publish_with(bo, ana)
    gone = await publish_with(ana)
    await ana.call("PUT", f"/posts/{theirs['post_id']}/like")
    await ana.call("PUT", f"/posts/{mine['post_id']}/archive")
    await ana.call("DELETE", f"/posts/{gone['post_id']}")

    room: PersonalDataHolder = rooms.posts.personal_data
    records = [record async for record in room.export(id_of(ana))]

    by_file: dict[str, list[Any]] = {}
    for record in records:
        by_file.setdefault(record.file, []).append(record)
    assert [each.content["post_id"] for each in by_file["posts.json"]] == [mine["post_id"]]
    assert by_file["posts.json"][0].content["is_archived"]
    assert await open_largest(rooms.media.storage, by_file["media.json"][0].media_folder)
    assert [each.content["post_id"] for each in by_file["likes.json"]] == [theirs["post_id"]]
    assert [each.content["post_id"] for each in by_file["tagged_in.json"]] == [theirs["post_id"]]


@pytest.mark.slow
async def test_erasure_leaves_nothing_and_keeps_other_counts_right(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cleo = await join(client, "cleo")
    theirs = await publish_with(bo, ana, cleo)
    mine = await publish_with(ana, bo)
    gone = await publish_with(ana)
    for person in (ana, cleo):
        await person.call("PUT", f"/posts/{theirs['post_id']}/like")
    await bo.call("PUT", f"/posts/{mine['post_id']}/like")
    await ana.call("DELETE", f"/posts/{gone['post_id']}")
    leaver = id_of(ana)
    await run_sql(rooms, leaver, f"UPDATE accounts SET status = 'leaving' WHERE id = {leaver}")
    await rooms.accounts.invalidate(leaver)
    assert await rooms.posts.personal_data.count_left(leaver) == 4

    while await rooms.posts.personal_data.erase(leaver):
        pass

    assert await rooms.posts.personal_data.count_left(leaver) == 0
    assert await tables_with_rows_of(rooms, leaver) == []
    seen = (await cleo.call("GET", f"/posts/{theirs['post_id']}")).json()
    assert (seen["like_count"], seen["viewer_has_liked"]) == (1, True)
    assert [each["username"] for each in seen["media"][0]["tagged"]] == ["cleo"]
    assert (await bo.call("GET", "/accounts/me/likes")).json()["posts"] == []
    assert await tagged_of(bo, bo) == []


@pytest.mark.parametrize(
    ("part", "step"),
    [
        ("_retention", "purge"),
        pytest.param("_likes", "change", marks=pytest.mark.slow),
        pytest.param("_tags", "remove", marks=pytest.mark.slow),
    ],
)
async def test_an_interrupted_erasure_is_finished_by_the_next_run(
    rooms: Rooms, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch, part: str, step: str
) -> None:
    theirs = await publish_with(bo, ana)
    await publish_with(ana, bo)
    await ana.call("PUT", f"/posts/{theirs['post_id']}/like")
    leaver = id_of(ana)

    async def die(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(getattr(rooms.posts, part), step, die)
        with pytest.raises(RuntimeError):
            await rooms.posts.personal_data.erase(leaver)
    assert await rooms.posts.personal_data.count_left(leaver) > 0
    while await rooms.posts.personal_data.erase(leaver):
        pass

    assert await tables_with_rows_of(rooms, leaver) == []
    post = (await rooms.posts.find_unfiltered([PostId(int(theirs["post_id"]))])).popitem()[1]
    assert post.like_count == 0
