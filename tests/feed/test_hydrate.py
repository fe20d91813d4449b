"""Hydration reads past the rooms' own methods; it must show what those would have shown, byte for byte."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import closing

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.feed.random_world import RandomWorld
from tests.support import Person
from tintype.accounts import Account
from tintype.api.feed_fast_path import FeedPageRenderer
from tintype.api.views.post_presenter import show_posts
from tintype.api.views.posts import PostsView
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, PostId
from tintype.feed import Hydrator, ViewerStates
from tintype.feed.hydrated import Hydrated
from tintype.posts import Post
from tintype.redis.client import Command, MultiplexedRedisClient
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import ViewerInvalidation
from tintype.wiring import Rooms

Shown = list[tuple[Post, Account, bool]]


@pytest.fixture
async def redis_client(rooms: Rooms) -> AsyncIterator[MultiplexedRedisClient]:
    made = MultiplexedRedisClient(rooms.redis)
    yield made
    await made.close()


def make_hydrator(rooms: Rooms, redis_client: MultiplexedRedisClient) -> Hydrator:
    cache = LeasedCache(rooms.redis, rooms.settings.namespace, redis_client)
    states = ViewerStates(rooms.shards, ViewerInvalidation(redis_client, rooms.settings.namespace))
    return Hydrator(rooms.shards, cache, rooms.posts, rooms.accounts, viewer_states=states)


async def expected(rooms: Rooms, reader: AccountId, ids: list[PostId]) -> Shown:
    """What the rooms' own methods return."""
    posts = await rooms.posts.find_many(ids, viewer=reader)
    seen = await rooms.visibility.find_content_owners(reader, {post.author_id for post in posts.values()})
    saved = await rooms.saves.which_saved(reader, list(posts))
    return [
        (post, one.account, post.id in saved)
        for post_id in ids
        if (post := posts.get(post_id)) is not None
        and (one := seen.get(post.author_id)) is not None
        and (one.relation.is_self or (one.relation.follows and not one.relation.mutes_posts))
    ]


async def read(
    hydrator: Hydrator,
    redis_client: MultiplexedRedisClient,
    reader: AccountId,
    ids: Sequence[PostId],
    last: Sequence[Hydrated] = (),
) -> Hydrated:
    """As the feed does it: after a reply from Redis, the client-side cache is as new as that reply."""
    with closing(TrackedRead(redis_client)) as tracked:
        hydrator.add_to_read(reader, tracked)
        await tracked.execute()
        state = hydrator.from_read(reader, tracked)
    return await hydrator.hydrate(reader, ids, state=state, last=last)


async def compare(
    world: RandomWorld,
    hydrator: Hydrator,
    redis_client: MultiplexedRedisClient,
    pages: FeedPageRenderer,
    last: dict[AccountId, Hydrated],
) -> tuple[int, int]:
    """Compare every reader's page in both ways, and with the last one if current.

    Returns how many posts were shown, and how many of their entries were the last page's.
    """
    rooms, shown, reused = world.rooms, 0, 0
    ids = [*sorted(world.posts, reverse=True), PostId(1), PostId(2**62)]
    for reader in world.people:
        wanted = await expected(rooms, reader, ids)
        hydrated = await read(hydrator, redis_client, reader, ids, [last[reader]] if reader in last else [])
        entries = hydrated.entries
        was = last.get(reader, hydrated)
        last[reader] = hydrated
        assert was.ids != hydrated.ids or not hydrator.is_current(was) or was.entries == entries
        assert [(entry.post, entry.author, entry.has_saved) for entry in entries] == wanted
        account = await rooms.accounts.get(reader)
        cursor = "more" if reader % 2 else None
        views = PostsView(
            await show_posts(rooms, account, [post for post, _, _ in wanted]), cursor, bool(cursor)
        )
        body, etag = pages.render(entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor)
        assert body == msgspec.json.encode(views)
        fresh, same = FeedPageRenderer(rooms.media.urls).render(
            entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor
        )
        assert (fresh, same) == (body, etag)
        shown += len(entries)
        reused += len(
            {id(each) for each in entries} & {id(each) for each in was.entries if was is not hydrated}
        )
    return shown, reused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_hydration_shows_what_the_rooms_show_in_random_worlds(
    rooms: Rooms, redis_client: MultiplexedRedisClient, seed: int
) -> None:
    world = RandomWorld(rooms, seed)
    hydrator, pages = make_hydrator(rooms, redis_client), FeedPageRenderer(rooms.media.urls)
    await world.begin()

    last, counted = dict[AccountId, Hydrated](), list[tuple[int, int]]()
    for _ in range(6):
        counted.append(await compare(world, hydrator, redis_client, pages, last))
        await world.happen(12)
    await rooms.redis.flushdb()  # no likes are buffered from here on
    counted.append(await compare(world, hydrator, redis_client, pages, last))
    for happens in (world.like, world.edit, world.unlike, world.save, world.follow, world.publish):
        with contextlib.suppress(TintypeError):
            await happens()
        counted.append(await compare(world, hydrator, redis_client, pages, last))

    assert sum(shown for shown, _ in counted) > 20
    assert sum(reused for _, reused in counted) > 0


@pytest.mark.slow
async def test_without_redis_hydration_shows_the_same(
    rooms: Rooms, redis_client: MultiplexedRedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 99)
    hydrator = make_hydrator(rooms, redis_client)
    await world.begin()
    await rooms.redis.flushdb()  # no likes are buffered
    known = [(await read(hydrator, redis_client, reader, world.posts)).entries for reader in world.people]

    def away(*_args: object, **_options: object) -> None:
        raise RedisConnectionError

    monkeypatch.setattr(MultiplexedRedisClient, "_open", away)
    await redis_client.close()

    assert [await hydrator.read(reader, world.posts) for reader in world.people] == known


@pytest.mark.slow
async def test_a_warm_page_takes_no_query_and_no_redis_command(
    rooms: Rooms, redis_client: MultiplexedRedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 3)
    hydrator = make_hydrator(rooms, redis_client)
    await world.begin()
    shown = [each for each in sorted(world.posts) if each in await rooms.posts.find_unfiltered(world.posts)]
    await rooms.redis.flushdb()  # no likes are buffered
    for _ in range(2):  # the first read loads, the second caches
        await read(hydrator, redis_client, world.people[0], shown)
    sent: list[object] = []
    execute = redis_client.execute

    async def count(*commands: Command) -> list[object]:
        sent.extend(commands)
        return await execute(*commands)

    monkeypatch.setattr(redis_client, "execute", count)
    calls = sum(each.calls for each in rooms.shards.counts.values())

    await hydrator.read(world.people[0], shown)

    assert sent == []
    assert sum(each.calls for each in rooms.shards.counts.values()) == calls


async def test_an_absent_post_is_loaded_once(
    rooms: Rooms, redis_client: MultiplexedRedisClient, ana: Person, bo: Person
) -> None:
    post_id, reader = PostId(int((await ana.publish())["post_id"])), AccountId(int(bo.account_id))
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await ana.call("DELETE", f"/posts/{post_id}")
    hydrator = make_hydrator(rooms, redis_client)
    await read(hydrator, redis_client, reader, [post_id])
    calls = sum(each.calls for each in rooms.shards.counts.values())

    assert (await read(hydrator, redis_client, reader, [post_id])).entries == []

    assert sum(each.calls for each in rooms.shards.counts.values()) == calls


async def test_a_page_that_has_not_changed_is_not_sent_again(ana: Person) -> None:
    post = await ana.publish("Once is enough")
    first = await ana.call("GET", "/feed")
    known = {"If-None-Match": first.headers["etag"]}

    again = await ana.call("GET", "/feed", headers=known)
    await ana.call("PUT", f"/posts/{post['post_id']}/like")
    changed = await ana.call("GET", "/feed", headers=known)

    assert first.headers["content-type"] == "application/json"
    assert (again.status_code, again.content) == (304, b"")
    assert changed.status_code == 200
    assert changed.json()["posts"][0]["viewer_has_liked"]


async def test_a_page_can_explain_the_rank_of_each_post(ana: Person, bo: Person) -> None:
    posts = [await ana.publish(f"#{word}") for word in ("sea", "sky")]
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    plain = (await bo.call("GET", "/feed")).json()
    told = (await bo.call("GET", "/feed", params={"explain": True})).json()

    assert "explanations" not in plain
    assert told["posts"] == plain["posts"]
    assert set(told["explanations"]) == {each["post_id"] for each in posts}
    assert all(each["summary"] and each["signals"] for each in told["explanations"].values())
