"""Reading the feed: what shows at once, what survives the loss of Redis, and stable pagination."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.feed.world import World
from tintype.accounts import ProfileUpdate
from tintype.base.errors import CursorInvalid
from tintype.base.ids import LARGEST_ID, AccountId, PostId
from tintype.feed import timeline_builder, timelines
from tintype.feed.cursors import FeedCursor, decode, encode
from tintype.feed.merged_timeline import MergedTimeline
from tintype.wiring import build_rooms

ME, YOU = AccountId(141402734592003), AccountId(141402734592004)
ids = st.integers(1, LARGEST_ID)


def rebuilds() -> float:
    return REGISTRY.get_sample_value("tintype_timeline_rebuilds_total", {"kept": "yes"}) or 0.0


async def test_an_own_post_shows_at_once_without_a_worker(world: World) -> None:
    ana = await world.person("ana")
    assert await world.read(ana) == []

    post_id = await world.post(ana)

    assert await world.read(ana) == [post_id]
    assert await world.read(ana, mode="ranked") == [post_id]


async def test_a_post_taken_out_of_the_archive_shows_at_once_in_its_old_place(world: World) -> None:
    ana = await world.person("ana")
    old, new = await world.post(ana), await world.post(ana)
    await world.rooms.posts.archive(old, ana)
    assert await world.read(ana) == [new]

    await world.rooms.posts.unarchive(old, ana)

    assert await world.read(ana) == [new, old]


async def test_a_new_followees_posts_show_at_once_without_a_worker(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    post_id = await world.post(bo)
    assert await world.read(ana) == []

    await world.rooms.graph.follow(ana, bo)

    assert await world.read(ana) == [post_id]


async def test_an_approved_request_shows_at_once_without_a_worker(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    post_id = await world.post(bo)
    await world.rooms.accounts.change_profile(bo, ProfileUpdate(is_private=True))
    await world.rooms.graph.follow(ana, bo)
    assert await world.read(ana) == []

    await world.rooms.graph.approve(bo, ana)

    assert await world.read(ana) == [post_id]


async def test_without_redis_the_feed_comes_from_the_shards(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    older, newer = await world.post(bo), await world.post(ana)

    world.redis_client.trips_left = 0

    assert await world.read(ana, limit=1) == [newer, older]
    assert await world.read(ana, mode="ranked", limit=1) == [newer, older]


async def test_an_installation_whose_redis_is_gone_still_shows_the_feed(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    older, newer = await world.post(bo), await world.post(bo)
    nowhere = Redis.from_url("redis://127.0.0.1:1/0", retry=Retry(NoBackoff(), 0))
    rooms = build_rooms(world.rooms.settings, world.rooms.shards, nowhere, world.rooms.nats)

    page = await rooms.feed.read(ana, limit=5)

    assert [entry.id for entry in page.entries] == [newer, older]
    await rooms.notifications.close()


@pytest.mark.slow
async def test_redis_may_be_emptied_in_the_middle_of_a_scroll(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    await world.post(bo, 12)

    found: list[PostId] = []
    async for page in world.pages(ana, mode="ranked", limit=5):
        found += page
        await world.rooms.redis.flushdb()

    assert sorted(found, reverse=True) == await world.expected(ana)


async def test_fifty_first_reads_at_once_build_one_timeline(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    post_id = await world.post(bo)
    before = rebuilds()

    found = await asyncio.gather(*(world.read(ana) for _ in range(50)))

    assert found == [[post_id]] * 50
    assert rebuilds() - before == 1


async def test_a_reader_who_waited_for_a_dead_builder_builds_the_timeline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timelines, "WAIT_FOR_BUILD_S", 0.05)
    ana = await world.person("ana")
    post_id = await world.post(ana)
    assert await world.lists.begin_build(ana)

    assert await world.read(ana) == [post_id]


async def test_the_newest_800_are_exact_however_posts_are_shared_among_authors(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        timeline_builder, "FIRST_ROUND_POSTS", 16
    )  # four posts of each author in the first round
    ana, *authors = await world.people("ana", "bo", "cy", "dee")
    for author, count in zip(authors, (700, 300, 3), strict=True):
        await world.rooms.graph.follow(ana, author)
        await world.sql(
            author, f"INSERT INTO posts (author_id) SELECT {author} FROM generate_series(1, {count})"
        )

    assert (await world.built(ana)).ids == (await world.expected(ana))[:800]


@pytest.mark.slow
async def test_posts_that_may_not_be_seen_are_replaced_by_older_ones(world: World) -> None:
    ana, bo, cy = await world.people("ana", "bo", "cy")
    for author in (bo, cy):
        await world.rooms.graph.follow(ana, author)
    await world.post(cy, 7)
    await world.post(bo, 9)
    await world.read(ana)

    await world.rooms.graph.unfollow(ana, bo)

    assert len((await world.feed.read(ana, mode="ranked", limit=5)).entries) == 5
    assert len((await world.feed.read(ana, mode="following", limit=5)).entries) == 5


@given(st.lists(ids, min_size=2, max_size=160, unique=True))
def test_a_cursor_decodes_to_what_was_encoded(numbers: list[int]) -> None:
    cursor = FeedCursor(max(numbers), min(numbers), frozenset(numbers))

    assert decode(ME, "ranked", encode(ME, "ranked", cursor)) == cursor


@given(ids, st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_or_foreign_cursor_is_refused(highest: int, where: int, byte: int) -> None:
    cursor = encode(ME, "following", FeedCursor(highest))
    position = where % len(cursor)
    damaged = cursor[:position] + chr(33 + byte % 90) + cursor[position + 1 :]

    for viewer, mode, text in (
        (YOU, "following", cursor),
        (ME, "ranked", cursor),
        (ME, "following", cursor[:-2]),
        (ME, "following", "é\x00"),
        (ME, "following", "A" * 5_000),
    ):
        with pytest.raises(CursorInvalid):
            decode(viewer, mode, text)  # pyright: ignore[reportArgumentType] - the modes are of a tuple
    try:
        assert damaged == cursor or decode(ME, "following", damaged) == FeedCursor(highest)
    except CursorInvalid:
        return


@given(st.lists(st.lists(st.integers(1, 60), max_size=30), min_size=1, max_size=4), st.integers(1, 8))
def test_merged_lists_read_as_one_without_gap_or_duplicate(lists: list[list[int]], count: int) -> None:
    timeline = MergedTimeline([sorted(each) for each in lists])
    found: list[int] = []
    highest = LARGEST_ID
    while batch := timeline.newest(highest, count):
        found += batch
        highest = batch[-1] - 1

    assert found == sorted({each for ids in lists for each in ids}, reverse=True)
    assert timeline.between(10, 20) == [each for each in found if 10 <= each <= 20]
