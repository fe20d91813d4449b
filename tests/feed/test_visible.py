"""A page of the feed is read by a path of its own; it must show what the rooms would have shown, byte for byte."""

from collections.abc import AsyncIterator, Sequence
from contextlib import closing

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisAway

from tests.feed.random_world import RandomWorld
from tests.support import Person
from tintype.accounts import Account
from tintype.api.shown import show_posts
from tintype.api.splicing import Splicer
from tintype.api.views import PostsView
from tintype.base.bringing import Bringing
from tintype.base.cache import Cache
from tintype.base.ids import AccountId, PostId
from tintype.base.ties import Ties
from tintype.base.wire import Command, SharedWire
from tintype.feed import Stances, Visible
from tintype.feed.visible import Look
from tintype.posts import Post
from tintype.wiring import Rooms

Shown = list[tuple[Post, Account, bool]]


@pytest.fixture
async def wire(rooms: Rooms) -> AsyncIterator[SharedWire]:
    made = SharedWire(rooms.redis)
    yield made
    await made.close()


def make_visible(rooms: Rooms, wire: SharedWire) -> Visible:
    cache = Cache(rooms.redis, rooms.settings.namespace, wire)
    stances = Stances(rooms.shards, Ties(wire, rooms.settings.namespace))
    return Visible(rooms.shards, cache, rooms.posts, rooms.accounts, stances=stances)


async def expected(rooms: Rooms, reader: AccountId, ids: list[PostId]) -> Shown:
    """What the rooms say, each asked by itself."""
    posts = await rooms.posts.find_many(ids, viewer=reader)
    seen = await rooms.sight.content_of(reader, {post.author_id for post in posts.values()})
    saved = await rooms.saves.which_saved(reader, list(posts))
    return [
        (post, one.account, post.id in saved)
        for post_id in ids
        if (post := posts.get(post_id)) is not None
        and (one := seen.get(post.author_id)) is not None
        and (one.relation.is_self or (one.relation.follows and not one.relation.mutes_posts))
    ]


async def read(visible: Visible, wire: SharedWire, reader: AccountId, ids: Sequence[PostId]) -> Look:
    """As the feed does it: Redis was asked something, so what is near is as new as that."""
    with closing(Bringing(wire)) as bringing:
        visible.ask(reader, bringing)
        await bringing.ask()
        visible.take(reader, bringing)
    return await visible.look(reader, ids)


async def compare(
    world: RandomWorld, visible: Visible, wire: SharedWire, pages: Splicer, kept: dict[AccountId, Look]
) -> int:
    """Every reader's page by both ways, and by what was kept of the last time; returns how many posts were shown."""
    rooms, shown = world.rooms, 0
    ids = [*sorted(world.posts, reverse=True), PostId(1), PostId(2**62)]
    for reader in world.people:
        wanted = await expected(rooms, reader, ids)
        look = await read(visible, wire, reader, ids)
        entries = look.entries
        was = kept.get(reader, look)
        kept[reader] = look
        assert was.ids != look.ids or not visible.holds(was) or was.entries == entries
        assert [(entry.post, entry.author, entry.has_saved) for entry in entries] == wanted
        account = await rooms.accounts.get(reader)
        cursor = "more" if reader % 2 else None
        views = PostsView(
            await show_posts(rooms, account, [post for post, _, _ in wanted]), cursor, bool(cursor)
        )
        body, etag = pages.splice(entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor)
        assert body == msgspec.json.encode(views)
        fresh, same = Splicer(rooms.media.addresses).splice(
            entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor
        )
        assert (fresh, same) == (body, etag)
        shown += len(entries)
    return shown


@pytest.mark.parametrize("seed", range(6))
async def test_it_shows_what_the_rooms_show_in_random_worlds(
    rooms: Rooms, wire: SharedWire, seed: int
) -> None:
    world = RandomWorld(rooms, seed)
    visible, pages = make_visible(rooms, wire), Splicer(rooms.media.addresses)
    await world.begin()

    shown, kept = 0, dict[AccountId, Look]()
    for _ in range(6):
        shown += await compare(world, visible, wire, pages, kept)
        await world.happen(12)
    await rooms.redis.flushdb()
    shown += await compare(world, visible, wire, pages, kept)

    assert shown > 20


async def test_without_redis_it_shows_the_same(
    rooms: Rooms, wire: SharedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 99)
    visible = make_visible(rooms, wire)
    await world.begin()
    await rooms.redis.flushdb()  # counts without what was buffered
    known = [(await read(visible, wire, reader, world.posts)).entries for reader in world.people]

    def away(*_args: object, **_options: object) -> None:
        raise RedisAway

    monkeypatch.setattr(SharedWire, "_open", away)
    await wire.close()

    assert [await visible.read(reader, world.posts) for reader in world.people] == known


async def test_a_warm_page_takes_no_query_and_asks_redis_nothing(
    rooms: Rooms, wire: SharedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 3)
    visible = make_visible(rooms, wire)
    await world.begin()
    shown = [each for each in sorted(world.posts) if each in await rooms.posts.find_any(world.posts)]
    await rooms.redis.flushdb()  # no likes are waiting in buffers
    for _ in range(2):  # what had to be loaded is near at the second reading
        await read(visible, wire, world.people[0], shown)
    asked: list[object] = []
    ask = wire.ask

    async def count(*commands: Command) -> list[object]:
        asked.extend(commands)
        return await ask(*commands)

    monkeypatch.setattr(wire, "ask", count)
    calls = sum(each.calls for each in rooms.shards.counts.values())

    await visible.read(world.people[0], shown)

    assert asked == []
    assert sum(each.calls for each in rooms.shards.counts.values()) == calls


async def test_a_post_that_is_gone_is_looked_for_once(
    rooms: Rooms, wire: SharedWire, ana: Person, bo: Person
) -> None:
    post_id, reader = PostId(int((await ana.publish())["post_id"])), AccountId(int(bo.account_id))
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    await ana.call("DELETE", f"/posts/{post_id}")
    visible = make_visible(rooms, wire)
    await read(visible, wire, reader, [post_id])
    calls = sum(each.calls for each in rooms.shards.counts.values())

    assert (await read(visible, wire, reader, [post_id])).entries == []

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


async def test_the_reader_is_told_why_each_post_stands_where_it_does(ana: Person, bo: Person) -> None:
    posts = [await ana.publish(f"#{word}") for word in ("sea", "sky")]
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    plain = (await bo.call("GET", "/feed")).json()
    told = (await bo.call("GET", "/feed", params={"explain": 1})).json()

    assert "explanations" not in plain
    assert told["posts"] == plain["posts"]
    assert set(told["explanations"]) == {each["post_id"] for each in posts}
    assert all(each["summary"] and each["signals"] for each in told["explanations"].values())
