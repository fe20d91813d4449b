"""Fan-out and celebrities: jobs that die half-way, repeat, cross the threshold or run into each other."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from shardwright.errors import ServerUnavailable
from shardwright.routing import Query, shard
from tests.feed.world import THRESHOLD, World
from tintype.base.ids import AccountId, PostId
from tintype.feed import FanOutDue, StarRisen, post_lists
from tintype.feed.post_lists import PostLists
from tintype.feed.timeline_builder import BuiltTimeline, TimelineBuilder
from tintype.posts import PostPublished
from tintype.redis.client import Command, PipelinedRedisClient

NAMES = ("bo", "cy", "dee", "eli")

TARGETS = "gather_fan_out_targets"


async def follow_all(world: World, followee: AccountId, followers: list[AccountId]) -> None:
    for each in followers:
        await world.rooms.graph.follow(each, followee)
    await world.work()


async def on_list(world: World, reader: AccountId) -> set[int]:
    """What is on a reader's timeline in Redis."""
    found = await world.lists.read(reader)
    return set(found.ids) if found else set()


async def make_celebrity(world: World, author: AccountId, followers: list[AccountId]) -> None:
    """An author becomes a celebrity, and every timeline is marked."""
    await follow_all(world, author, followers)
    for each in followers:
        await world.read(each)
    await world.post(author)
    await world.work()


@asynccontextmanager
async def build_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncGenerator[tuple[asyncio.Event, asyncio.Event]]:
    """Builders of timelines set `answered` once the shards have answered, and wait for `goes_on`."""
    answered, goes_on = asyncio.Event(), asyncio.Event()
    build = TimelineBuilder.build_timeline

    async def slowly(self: TimelineBuilder, viewer: AccountId) -> BuiltTimeline:
        built = await build(self, viewer)
        answered.set()
        await goes_on.wait()
        return built

    with monkeypatch.context() as patch:
        patch.setattr(TimelineBuilder, "build_timeline", slowly)
        yield answered, goes_on


async def test_a_post_reaches_followers_in_parts_of_which_each_is_a_job(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES[:2], "fay", "gus", "hal")
    await follow_all(world, ana, followers)
    await world.sql(
        ana, f"INSERT INTO feed_stars (account_id) VALUES ({ana})"
    )  # not settled: still fanned out
    for each in followers:
        await world.read(each)
    post_id = await world.post(ana)

    for event in (await world.pending()).values():
        await world.deliver(event)
    parts = [event for event in (await world.pending()).values() if isinstance(event, FanOutDue)]

    assert [post_id in await on_list(world, each) for each in sorted(followers)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert len(parts) == 2
    for part in parts:
        await world.deliver(part)
    assert all([post_id in await on_list(world, each) for each in followers])


@pytest.mark.parametrize("trips", range(9))
@pytest.mark.slow
async def test_a_fan_out_that_dies_half_way_and_is_repeated_shows_the_post_once(
    world: World, trips: int
) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await follow_all(world, ana, followers)
    for each in followers:
        await world.read(each)
    post_id = await world.post(ana)

    world.redis_client.trips_left = trips
    for event in (await world.pending()).values():
        try:
            await world.deliver(event)
        except RedisConnectionError:
            continue
    world.redis_client.trips_left = None
    await world.work()

    for each in followers:
        assert await world.read(each) == [post_id]


async def test_posts_of_a_celebrity_are_not_fanned_out_and_shown_all_the_same(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)

    post_id = await world.post(ana)
    await world.work()

    for each in followers:
        assert post_id not in await on_list(world, each)
        assert await world.read(each) == await world.expected(each)


@pytest.mark.slow
async def test_posts_of_a_former_celebrity_are_fanned_out_again_and_none_is_lost(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)
    await world.post(ana, 2)
    await world.work()
    for each in followers[:2]:
        await world.rooms.graph.unfollow(each, ana)
    late = await world.person("late")

    post_id = await world.post(ana)
    await world.work()

    assert post_id in await on_list(world, followers[-1])
    await world.rooms.graph.follow(late, ana)
    for each in (*followers, late):
        assert await world.read(each) == await world.expected(each)


async def test_a_celebrity_stays_one_with_one_follower_less(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES[:THRESHOLD])
    await make_celebrity(world, ana, followers)
    for name in ("ida", "jo"):
        followers.append(await world.person(name))
    await follow_all(world, ana, followers[THRESHOLD:])
    await world.rooms.graph.unfollow(followers[0], ana)
    await world.read(followers[1])

    post_id = await world.post(ana)
    await world.work()

    assert post_id not in await on_list(world, followers[1])


async def test_a_timeline_being_built_is_marked_with_a_new_celebrity(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await follow_all(world, ana, followers)
    async with build_paused(monkeypatch) as (answered, goes_on):
        reading = asyncio.create_task(world.read(followers[0]))
        await answered.wait()
        await world.post(ana)
        await world.work()
        await world.post(ana)  # this one is not fanned out
        await world.work()
        goes_on.set()
        await reading

    assert await world.read(followers[0]) == await world.expected(followers[0])


async def test_no_post_is_lost_when_a_celebrity_ceases_to_be_one_while_a_timeline_is_built(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)
    await world.rooms.redis.flushdb()
    async with build_paused(monkeypatch) as (answered, goes_on):
        reading = asyncio.create_task(world.read(followers[-1]))
        await answered.wait()
        await world.post(ana)
        await world.work()
        for each in followers[:2]:
            await world.rooms.graph.unfollow(each, ana)
        await world.post(ana)
        await world.work()
        goes_on.set()
        await reading

    assert await world.read(followers[-1]) == await world.expected(followers[-1])


async def test_a_follow_while_a_timeline_is_built_is_not_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await world.people("ana", "bo")
    post_id = await world.post(bo)
    async with build_paused(monkeypatch) as (answered, goes_on):
        reading = asyncio.create_task(world.read(ana))
        await answered.wait()
        await world.rooms.graph.follow(ana, bo)
        goes_on.set()
        assert await reading == []

    assert await world.read(ana) == [post_id]


async def test_a_follow_that_arrives_late_at_the_followee_misses_no_post(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await world.people("ana", "bo")

    async def lost(_change: Any, **_along: Any) -> None:
        raise ServerUnavailable("lost on purpose")

    with monkeypatch.context() as patch:
        patch.setattr(world.rooms.graph._mirror, "apply", lost)
        await world.rooms.graph.follow(ana, bo)
    assert await world.read(ana) == []
    post_id = await world.post(bo)  # no follower is known: pushed to nobody

    for event in sorted(
        (await world.pending()).values(), key=lambda each: not isinstance(each, PostPublished)
    ):
        for handler in world.feed.handlers():
            if handler.event is type(event):
                await handler.run(event)

    assert await world.read(ana) == [post_id]


async def test_followers_of_concurrent_posts_are_read_in_one_query_per_shard(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    authors, reader = await world.people("ana", "bo", "cy"), await world.person("dee")
    for author in authors:
        await follow_all(world, author, [reader])
    await world.read(reader)
    posts = [await world.post(author) for author in authors]
    published = [event for event in (await world.pending()).values() if isinstance(event, PostPublished)]
    reads: list[int] = []
    execute_on_shard = shard.execute_on_shard

    async def recording(router: Any, number: int, query: Query, *rest: Any) -> Any:
        if query.name == TARGETS:
            reads.append(number)
        return await execute_on_shard(router, number, query, *rest)

    monkeypatch.setattr(shard, "execute_on_shard", recording)
    await asyncio.gather(*(world.deliver(event) for event in [*published, *published]))

    assert sorted(reads) == sorted({world.rooms.shards.shard_of(author) for author in authors})
    assert await on_list(world, reader) == set(posts)


async def test_an_author_whose_server_is_away_delays_nobody_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = world.rooms.shards
    reader, *people = await world.people("reader", *(f"author{number}" for number in range(4)))
    by_server = {shards.map.owners[shards.shard_of(each)]: each for each in people}
    assert len(by_server) == 2, "new people go to all servers in turn"
    lost, reachable = by_server.values()
    for author in (lost, reachable):
        await follow_all(world, author, [reader])
    await world.read(reader)
    late, early = await world.post(lost), await world.post(reachable)
    execute_on_shard = shard.execute_on_shard

    async def partly(router: Any, number: int, query: Query, *rest: Any) -> Any:
        if query.name == TARGETS and number == shards.shard_of(lost):
            raise ServerUnavailable("away on purpose")
        return await execute_on_shard(router, number, query, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(shard, "execute_on_shard", partly)
        outcomes = await asyncio.gather(
            *(world.deliver(PostPublished(*each)) for each in ((late, lost), (early, reachable))),
            return_exceptions=True,
        )
    assert [type(each) for each in outcomes] == [ServerUnavailable, type(None)]
    assert await on_list(world, reader) == {early}

    await world.work()
    assert await on_list(world, reader) == {early, late}


async def test_an_old_event_of_a_former_celebrity_does_not_stop_fan_out(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)
    for each in followers[:2]:
        await world.rooms.graph.unfollow(each, ana)
    await world.post(ana)
    await world.work()

    await world.deliver(StarRisen(ana, 1))
    post_id = await world.post(ana)
    await world.work()

    assert post_id in await on_list(world, followers[-1])


async def test_marking_timelines_that_was_never_finished_starts_again(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await follow_all(world, ana, followers)
    old = 200_000 << 23  # minutes after the epoch of ids
    await world.sql(ana, f"INSERT INTO feed_stars (account_id, change_id) VALUES ({ana}, {old})")
    await world.read(followers[0])

    await world.post(ana)
    await world.work()
    withheld = await world.post(ana)
    await world.work()

    assert withheld not in await on_list(world, followers[0])
    assert await world.read(followers[0]) == await world.expected(followers[0])


async def test_a_celebrity_no_longer_followed_is_no_longer_merged(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)

    await world.rooms.graph.unfollow(followers[0], ana)
    await world.work()

    assert await on_list(world, followers[0]) == set()


async def test_a_long_timeline_is_trimmed_keeps_its_celebrities_and_stays_small(world: World) -> None:
    ana, bo = await world.people("ana", "bo")
    await world.read(ana)
    await world.lists.mark(bo, [ana])
    first = 150_000_000_000_000_000
    for number in range(1_150):
        await world.lists.push(PostId(first + (number << 23)), [ana])

    found = await world.lists.read(ana)
    size_bytes = (await world.redis_client.execute(("MEMORY", "USAGE", world.lists.key(ana), "SAMPLES", 0)))[
        0
    ]

    assert found is not None
    assert found.celebrities == (bo,)
    assert 800 <= len(found.ids) <= 1_000
    assert size_bytes / len(found.ids) <= 12


async def test_in_a_cluster_a_script_stays_in_one_slot(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Command] = []

    class Recording(PipelinedRedisClient):
        async def execute(self, *commands: Command) -> list[Any]:
            seen.extend(commands)
            return [1] * len(commands)

    monkeypatch.setattr(post_lists, "KEYS_PER_SCRIPT", 200)
    readers = [AccountId((number * 7 << 23) + 1_000) for number in range(3_000)]

    await PostLists(Recording(world.rooms.redis), "some", ttl_s=60, spans_slots=False).push(
        PostId(5), readers
    )

    scripts = [command[3 : 3 + int(command[2])] for command in seen]
    assert sum(len(keys) for keys in scripts) == 3_000
    assert len(scripts) == 256
    assert all(len({str(key).partition("}")[0] for key in keys}) == 1 for keys in scripts)


async def test_the_lists_of_a_deactivated_account_are_deleted(world: World) -> None:
    ana, *followers = await world.people("ana", *NAMES)
    await make_celebrity(world, ana, followers)
    await world.read(ana)

    await world.rooms.accounts.deactivate(ana)
    await world.work()

    assert await on_list(world, ana) == set()
    assert await world.read(followers[0]) == []
    assert await world.feed.personal_data.count_left(ana) == 1
    assert await world.feed.personal_data.erase(ana) == 1
    assert await world.feed.personal_data.count_left(ana) == 0
