import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from tests.support import on_server
from tintype.accounts import SignedIn
from tintype.cli.entry import build_app
from tintype.demo import Count, Demo, Person, Plan, Summary, load_people
from tintype.wiring import Rooms

PASSWORD = "a password for tests"
NEWEST = 2**63 - 1
SEED = 1


def few(count: int = 3, *, photos: int = 1) -> tuple[Person, ...]:
    """A few people with few photos: every picture takes a moment to make."""
    return tuple(msgspec.structs.replace(each, photos=each.photos[:photos]) for each in load_people()[:count])


def quiet(_stage: str, _done: int, _total: int) -> None:
    """Ignore the progress."""


def make_demo(rooms: Rooms) -> Demo:
    return Demo(rooms, password=PASSWORD, seed=SEED, pause_s=0.02)


async def count_rows(rooms: Rooms) -> dict[str, int]:
    """Rows of the tables that the demo people fill, over all shards."""
    found: Counter[str] = Counter()
    tables = ("accounts", "sessions", "usernames", "following", "media", "posts", "post_media", "likes")
    for dsn in rooms.settings.postgres_admin:
        schemas = await on_server(dsn, r"SELECT nspname FROM pg_namespace WHERE nspname ~ '^s\d{4}$'")
        for table in tables:
            union = " UNION ALL ".join(f"SELECT 1 FROM {row['nspname']}.{table}" for row in schemas)
            found[table] += (await on_server(dsn, f"SELECT count(*) AS n FROM ({union}) AS every"))[0]["n"]
    return dict(found)


def expected_summary(people: tuple[Person, ...], *, is_new: bool) -> Summary:
    """The summary of a run that created everything, or found that everything existed."""
    plan = Plan(people, SEED)
    sizes = (len(people), len(plan.follows()), len(plan.photos()), len(plan.likes()))
    counts = [Count(size, size if is_new else 0) for size in sizes]
    return Summary(*counts, skipped=[])


@pytest.mark.slow
async def test_the_community_is_complete_and_a_repeat_changes_nothing(rooms: Rooms) -> None:
    people = few()

    first = await make_demo(rooms).populate(people, quiet)
    rows = await count_rows(rooms)
    again = await make_demo(rooms).populate(people, quiet)

    assert first == expected_summary(people, is_new=True)
    assert again == expected_summary(people, is_new=False)
    assert await count_rows(rooms) == rows
    assert rows["accounts"] == 3
    assert rows["posts"] == rows["media"] == rows["post_media"] == 3
    assert rows["following"] == first.follows.total
    assert rows["likes"] == first.likes.total
    assert rows["sessions"] == 0


@pytest.mark.slow
async def test_a_post_has_its_caption_and_alt_text(rooms: Rooms) -> None:
    person = few(photos=2)[0]

    await make_demo(rooms).populate([person], quiet)

    account = await rooms.accounts.get_by_name(person.username)
    assert (account.full_name, account.post_count) == (person.full_name, 2)
    ids = await rooms.posts.page_of_author(account.id, before=NEWEST, limit=10)
    posts = await rooms.posts.find_many(ids, viewer=account.id)
    assert {(post.caption, post.media[0].alt_text) for post in posts.values()} == {
        (photo.caption, photo.alt_text) for photo in person.photos
    }


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["people", "follows", "photos", "likes"])
async def test_an_interrupted_run_is_completed_by_the_next(rooms: Rooms, stage: str) -> None:
    people = few()
    has_reached_stage = asyncio.Event()

    def watch(now: str, done: int, _total: int) -> None:
        if (now, done) == (stage, 2):
            has_reached_stage.set()

    task = asyncio.create_task(make_demo(rooms).populate(people, watch))
    await has_reached_stage.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    summary = await make_demo(rooms).populate(people, quiet)

    complete = expected_summary(people, is_new=True)
    rows = await count_rows(rooms)
    assert summary.skipped == []
    assert rows["accounts"] == len(people)
    assert rows["following"] == complete.follows.total
    assert rows["posts"] == rows["post_media"] == complete.posts.total
    assert rows["likes"] == complete.likes.total


@pytest.mark.slow
async def test_a_larger_run_adds_the_missing_people(rooms: Rooms) -> None:
    await make_demo(rooms).populate(few(2), quiet)

    summary = await make_demo(rooms).populate(few(3), quiet)

    assert summary.people == Count(3, 1)
    assert summary.posts == Count(3, 1)


@pytest.mark.slow
async def test_a_username_that_belongs_to_somebody_is_skipped(rooms: Rooms) -> None:
    people = few(2)
    real = await rooms.accounts.sign_up(people[0].username, "a password of their own")

    summary = await make_demo(rooms).populate(people, quiet)

    assert summary.skipped == [people[0].username]
    assert summary.people == Count(1, 1)
    assert (await rooms.accounts.get(real.account.id)).post_count == 0


async def test_an_interrupted_sign_up_is_waited_for(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    person = few(photos=0)[0]
    has_failed_once, sign_in = asyncio.Event(), rooms.authentication.sign_in

    async def sign_in_and_record(*args: Any, **options: Any) -> SignedIn:
        try:
            return await sign_in(*args, **options)
        finally:
            has_failed_once.set()

    monkeypatch.setattr(rooms.authentication, "sign_in", sign_in_and_record)
    shard = rooms.shards.of(person.username)
    place = f"{shard.schema}.usernames"
    dsn = rooms.settings.postgres_admin[int(shard.server.removeprefix("pg")) - 1]
    nobody = 5 << 23 | shard.number << 10  # an id on a shard that exists, of an account that does not
    await on_server(dsn, f"INSERT INTO {place} (username, account_id) VALUES ('{person.username}', {nobody})")

    task = asyncio.create_task(make_demo(rooms).populate([person], quiet))
    await has_failed_once.wait()
    await on_server(dsn, f"UPDATE {place} SET claimed_at = now() - interval '2 minutes'")

    assert (await task).people.total == 1


def test_a_larger_community_keeps_the_decisions_of_a_smaller_one() -> None:
    small, large = Plan(load_people()[:6], SEED), Plan(load_people(), SEED)
    names = {person.username for person in small.people}

    # Who was first follows whoever was last, and that is somebody else now.
    ring = {(small.people[0].username, small.people[-1].username)}
    assert set(small.follows()) - ring <= set(large.follows())
    assert {one for one, _ in large.follows()} >= names
    assert all(one != other for one, other in large.follows())


def test_the_command_says_that_nothing_is_running(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "tintype.toml"))

    result = CliRunner().invoke(build_app(["demo"]), ["demo"])

    assert result.exit_code == 1
    assert "tintype up" in str(result.exception)
