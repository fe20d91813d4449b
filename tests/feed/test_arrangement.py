"""What is on top of the home feed, and whose posts stand beside each other."""

from datetime import timedelta

import pytest

from tests.feed.world import World, first_run_too_long
from tintype.base.ids import AccountId, PostId
from tintype.feed import MODES, Mode
from tintype.ranking import Impression
from tintype.wiring import Rooms

LATER = timedelta(hours=1)


@pytest.mark.parametrize("mode", MODES)
async def test_own_posts_leave_their_places_once_they_are_no_longer_new(world: World, mode: Mode) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    theirs = [await world.post(bo) for _ in range(3)]
    await world.post(ana, 9)

    world.calendar.ahead = LATER

    assert sorted(await first_page(world, ana, mode, limit=3)) == theirs
    await world.empty_redis()
    assert sorted(await world.read(ana, mode=mode)) == theirs


async def test_own_old_posts_take_no_places_of_a_rebuilt_timeline(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    for author in (bo, ana):
        old = f"SELECT next_id() - (3600000::bigint << 23), {author} FROM generate_series(1, 800)"
        await world.sql(author, f"INSERT INTO posts (id, author_id) {old}")

    built = await world.built(ana)

    assert len(built.ids) == 800
    assert built.ids == await world.expected(ana)


async def test_a_post_just_published_is_first_for_its_author_whatever_others_publish(world: World) -> None:
    ana, bo, cy = await world.people("ana", "bo", "cy")
    for author in (bo, cy):
        await world.rooms.graph.follow(ana, author)
    own = await world.post(ana)
    await world.post(bo)
    await world.post(cy, 2)
    await world.work()

    assert (await first_page(world, ana, "ranked", limit=4))[0] == own


async def test_what_followees_just_published_is_on_top_whatever_its_rank(world: World) -> None:
    ana, bo, cy = await world.people("ana", "bo", "cy")
    for author in (bo, cy):
        await world.rooms.graph.follow(ana, author)
    await world.post(bo, 12)
    await world.work()
    world.calendar.ahead = LATER  # the random ranker decides about these
    await first_page(world, ana, "ranked", limit=5)
    world.calendar.ahead = timedelta()

    newest = [await world.post(cy), await world.post(bo), await world.post(cy)][::-1]
    await world.work()
    cutoff = world.rooms.shards.map.layout.id_time(newest[-1])
    world.calendar.stopped = cutoff + timedelta(minutes=30)

    assert (await first_page(world, ana, "ranked", limit=5))[:3] == newest


async def test_what_was_seen_is_ranked_like_everything_else(rooms: Rooms, world: World) -> None:
    ana, bo, cy = await world.people("ana", "bo", "cy")
    for author in (bo, cy):
        await world.rooms.graph.follow(ana, author)
    older, newer = await world.post(bo), await world.post(cy)
    assert await ranked(rooms, ana) == [newer, older]

    await rooms.ranking.record_impressions(ana, [Impression(newer, 1_500)])

    assert await ranked(rooms, ana) == [older, newer]


async def test_ones_own_post_stays_first_after_it_was_looked_at(rooms: Rooms, world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    own, theirs = await world.post(ana), await world.post(bo)

    await rooms.ranking.record_impressions(ana, [Impression(own, 1_500)])

    assert await ranked(rooms, ana) == [own, theirs]


@pytest.mark.parametrize("is_later", [False, True])
@pytest.mark.parametrize("limit", [2, 3, 5])
async def test_nobody_has_three_in_a_row_while_others_are_left(
    world: World, limit: int, is_later: bool
) -> None:
    ana, bo, cy, dee = await world.people("ana", "bo", "cy", "dee")
    for author in (bo, cy, dee):
        await world.rooms.graph.follow(ana, author)
    for author, count in ((cy, 3), (bo, 11), (dee, 2), (bo, 2)):
        await world.post(author, count)
    await world.work()
    world.calendar.ahead = LATER if is_later else timedelta()

    found = await world.read(ana, mode="ranked", limit=limit)

    assert sorted(found, reverse=True) == await world.expected(ana)
    authors = await world.authors(found)
    assert first_run_too_long(authors) in {None, len(authors)}, authors


async def first_page(world: World, viewer: AccountId, mode: Mode, *, limit: int) -> list[PostId]:
    page = await world.feed.read(viewer, mode=mode, limit=limit)
    return [entry.id for entry in page.entries]


async def ranked(rooms: Rooms, viewer: AccountId) -> list[PostId]:
    return [entry.id for entry in (await rooms.feed.read(viewer)).entries]
