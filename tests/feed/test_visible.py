"""A page of the feed is read by a path of its own; it must show what the rooms would have shown, byte for byte."""

from collections.abc import AsyncIterator, Iterable

import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisAway

from tests.feed.random_world import RandomWorld
from tests.support import Person
from tintype.accounts import Account
from tintype.api.shown import show_posts
from tintype.api.splicing import Splicer
from tintype.api.views import PostsView
from tintype.base.ids import AccountId, PostId
from tintype.base.wire import SharedWire
from tintype.feed import Visible
from tintype.posts import Post
from tintype.wiring import Rooms

Shown = list[tuple[Post, Account, bool]]


@pytest.fixture
async def wire(rooms: Rooms) -> AsyncIterator[SharedWire]:
    made = SharedWire(rooms.redis)
    yield made
    await made.close()


def make_visible(rooms: Rooms, wire: SharedWire) -> Visible:
    return Visible(rooms.shards, wire, rooms.cache, rooms.posts, rooms.accounts)


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


async def compare(world: RandomWorld, visible: Visible, pages: Splicer) -> int:
    """Every reader's page by both ways; returns how many posts were shown."""
    rooms, shown = world.rooms, 0
    ids = [*sorted(world.posts, reverse=True), PostId(1), PostId(2**62)]
    for reader in world.people:
        wanted = await expected(rooms, reader, ids)
        entries = await visible.read(reader, ids)
        assert [(entry.post, entry.author, entry.has_saved) for entry in entries] == wanted
        account = await rooms.accounts.get(reader)
        cursor = "more" if reader % 2 else None
        views = PostsView(
            await show_posts(rooms, account, [post for post, _, _ in wanted]), cursor, bool(cursor)
        )
        parts, etag = pages.splice(entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor)
        assert b"".join(parts) == msgspec.json.encode(views)
        fresh, same = Splicer(rooms.media.addresses).splice(
            entries, rooms.shards.map.layout, viewer=reader, next_cursor=cursor
        )
        assert (b"".join(fresh), same) == (b"".join(parts), etag)
        shown += len(entries)
    return shown


@pytest.mark.parametrize("seed", range(6))
async def test_it_shows_what_the_rooms_show_in_random_worlds(
    rooms: Rooms, wire: SharedWire, seed: int
) -> None:
    world = RandomWorld(rooms, seed)
    visible, pages = make_visible(rooms, wire), Splicer(rooms.media.addresses)
    await world.begin()

    shown = 0
    for _ in range(6):
        shown += await compare(world, visible, pages)
        await world.happen(12)
    await rooms.redis.flushdb()
    shown += await compare(world, visible, pages)

    assert shown > 20


async def test_without_redis_it_shows_the_same(
    rooms: Rooms, wire: SharedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 99)
    visible = make_visible(rooms, wire)
    await world.begin()
    await rooms.redis.flushdb()  # counts without what was buffered
    known = [await visible.read(reader, world.posts) for reader in world.people]

    def away(*_args: object, **_options: object) -> None:
        raise RedisAway

    monkeypatch.setattr(SharedWire, "_open", away)
    await wire.close()

    assert [await visible.read(reader, world.posts) for reader in world.people] == known


async def test_a_warm_page_takes_one_query_and_one_round_trip(
    rooms: Rooms, wire: SharedWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = RandomWorld(rooms, 3)
    visible = make_visible(rooms, wire)
    await world.begin()
    shown = [each for each in sorted(world.posts) if each in await rooms.posts.find_any(world.posts)]
    await visible.read(world.people[0], shown)
    asked: list[int] = []
    begin = wire.begin

    def count(*commands: object) -> object:
        asked.append(len(commands))
        return begin(*commands)  # pyright: ignore[reportArgumentType] - passed on

    monkeypatch.setattr(wire, "begin", count)
    calls = sum(each.calls for each in rooms.shards.counts.values())

    await visible.read(world.people[0], shown)

    assert len(asked) == 1
    assert sum(each.calls for each in rooms.shards.counts.values()) == calls + 1


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


async def test_what_another_reader_has_learned_meanwhile_is_not_taken_for_known(
    rooms: Rooms, wire: SharedWire, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id, reader = PostId(int((await ana.publish())["post_id"])), AccountId(int(bo.account_id))
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    visible = make_visible(rooms, wire)
    assert len(await visible.read(reader, [post_id])) == 1

    # This reader looked before the other had learned who is in the post.
    def nobody(_ids: Iterable[PostId]) -> tuple[list[AccountId], bool]:
        return [], False

    monkeypatch.setattr(visible, "_people", nobody)

    assert len(await visible.read(reader, [post_id])) == 1
