"""A page that is looked at again is given again, and never when anything about it has changed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import closing

import pytest

from tests.feed.world import World
from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId, PostId
from tintype.base.ties import Ties
from tintype.base.wire import Command
from tintype.feed import FeedPage, Stances
from tintype.feed.lists import Lists
from tintype.feed.reading import KEPT_S
from tintype.feed.stances import Stance
from tintype.feed.stars import StarLists
from tintype.posts import Edit
from tintype.wiring import Rooms, build_rooms

Change = Callable[[Rooms, AccountId, AccountId, PostId], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "unfollow": lambda rooms, ana, bo, _: rooms.graph.unfollow(ana, bo),
    "remove follower": lambda rooms, ana, bo, _: rooms.graph.follows.remove_follower(bo, ana),
    "mute": lambda rooms, ana, bo, _: rooms.graph.attitudes.mute(ana, bo, posts=True),
    "block": lambda rooms, ana, bo, _: rooms.graph.blocks.block(ana, bo),
    "be blocked": lambda rooms, ana, bo, _: rooms.graph.blocks.block(bo, ana),
    "like": lambda rooms, ana, _, post: rooms.posts.like(post, ana),
    "save": lambda rooms, ana, _, post: rooms.saves.save(post, ana),
    "archive": lambda rooms, _, bo, post: rooms.posts.archive(post, bo),
    "remove": lambda rooms, _, bo, post: rooms.posts.remove(post, bo),
    "hide": lambda rooms, _, bo, post: rooms.posts.hide(post, bo),
    "edit": lambda rooms, _, bo, post: rooms.posts.edit(post, bo, Edit(caption="Other words")),
    "suspend": lambda rooms, _, bo, __: rooms.accounts.set_status(bo, "suspended"),
    "rename": lambda rooms, _, bo, __: rooms.accounts.profiles.rename(bo, "bo.otherwise"),
    "like of another": lambda rooms, _, bo, post: rooms.posts.like(post, bo),
    "buffered like": lambda rooms, _, __, post: rooms.posts.sources().likes.add(post, 2),
    "comment": lambda rooms, _, bo, post: rooms.comments.add(post, bo, "Well done"),
}
UNDONE: dict[str, Change] = {
    "mute": lambda rooms, ana, bo, _: rooms.graph.attitudes.mute(ana, bo, posts=False),
    "like": lambda rooms, ana, _, post: rooms.posts.unlike(post, ana),
    "save": lambda rooms, ana, _, post: rooms.saves.unsave(post, ana),
    "suspend": lambda rooms, _, bo, __: rooms.accounts.set_status(bo, "active"),
}


@pytest.fixture
async def elsewhere(world: World) -> AsyncIterator[Rooms]:
    """The same house in another process: it tells this one nothing but by way of Redis, and keeps nothing."""
    rooms = world.rooms
    other = build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.bus)
    yield other
    await other.notifications.close()


async def look(rooms: Rooms, viewer: AccountId) -> FeedPage:
    return await rooms.feed.read(viewer, mode="following", limit=20)


async def settle(world: World, viewer: AccountId) -> FeedPage:
    """The page once everything about it is near."""
    for _ in range(3):
        await look(world.rooms, viewer)
    page = await look(world.rooms, viewer)
    assert await look(world.rooms, viewer) is page
    return page


async def begin(world: World) -> tuple[AccountId, AccountId, PostId]:
    """Ana follows Bo, who has shown something."""
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    return ana, bo, await world.post(bo)


@pytest.mark.parametrize("what", CHANGES)
async def test_what_changes_in_another_process_shows_in_the_next_read(
    world: World, elsewhere: Rooms, what: str
) -> None:
    ana, bo, post = await begin(world)
    before = await settle(world, ana)

    await CHANGES[what](elsewhere, ana, bo, post)

    after = await look(world.rooms, ana)
    assert after.entries != before.entries
    assert after.entries == (await look(elsewhere, ana)).entries


@pytest.mark.parametrize("what", UNDONE)
async def test_what_is_undone_in_another_process_shows_in_the_next_read(
    world: World, elsewhere: Rooms, what: str
) -> None:
    ana, bo, post = await begin(world)
    await CHANGES[what](elsewhere, ana, bo, post)
    before = await settle(world, ana)

    await UNDONE[what](elsewhere, ana, bo, post)

    after = await look(world.rooms, ana)
    assert after.entries != before.entries
    assert after.entries == (await look(elsewhere, ana)).entries


async def test_a_kept_page_is_of_one_mode_and_size(world: World) -> None:
    ana, bo, first = await begin(world)
    second = await world.post(bo)
    await world.work()
    await settle(world, ana)

    one = await world.feed.read(ana, mode="following", limit=1)
    ranked = await world.feed.read(ana, mode="ranked", limit=20)

    assert [entry.id for entry in one.entries] == [second]
    assert {entry.id for entry in ranked.entries} == {first, second}


async def test_a_kept_page_grows_old(world: World) -> None:
    ana, _, _ = await begin(world)
    page = await settle(world, ana)
    world.clock.now += KEPT_S

    again = await look(world.rooms, ana)

    assert again is not page
    assert again == page


async def test_nothing_is_kept_of_a_connection_that_was_lost(world: World, elsewhere: Rooms) -> None:
    ana, bo, _ = await begin(world)
    await settle(world, ana)
    world.wire.left = 0
    await elsewhere.graph.unfollow(ana, bo)

    assert (await look(world.rooms, ana)).entries == []

    world.wire.left = None
    assert (await look(world.rooms, ana)).entries == []


async def test_a_change_while_the_shard_is_asked_is_not_lost(
    world: World, elsewhere: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = await begin(world)
    await look(world.rooms, ana)
    asked, goes_on = asyncio.Event(), asyncio.Event()
    read = Stances.read

    async def slowly(
        self: Stances, reader: AccountId, people: Collection[AccountId], posts: Collection[PostId]
    ) -> Stance:
        stance = await read(self, reader, people, posts)
        asked.set()
        await goes_on.wait()
        return stance

    await elsewhere.graph.attitudes.mute(ana, bo, stories=True)  # nothing that shows, but all is asked anew
    with monkeypatch.context() as patch:
        patch.setattr(Stances, "read", slowly)
        reading = asyncio.create_task(look(world.rooms, ana))
        await asked.wait()
    await elsewhere.graph.unfollow(ana, bo)
    goes_on.set()

    assert len((await reading).entries) == 1  # as it was when the reader asked
    assert (await look(world.rooms, ana)).entries == []


async def test_news_of_a_process_that_died_after_its_commit_are_made_good(
    world: World, elsewhere: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = await begin(world)
    await settle(world, ana)

    async def die(self: Ties, *_people: AccountId) -> None:
        assert isinstance(self, Ties)

    with monkeypatch.context() as patch:
        patch.setattr(Ties, "changed", die)
        await elsewhere.graph.unfollow(ana, bo)
    await world.work()

    assert (await look(world.rooms, ana)).entries == []


async def test_a_stars_list_that_changes_while_another_is_read_is_no_accident(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await world.people("ana", "bo")
    lists = Lists(world.wire, "elsewhere:star", keep_s=60)
    stars = StarLists(world.wire, lists, world.building)
    for star, number in ((ana, 1), (bo, 2)):
        await lists.fill(star, (await lists.open(star))[star], [number << 23])
        await lists.renew(star)
    with closing(Bringing(world.wire)) as bringing:
        stars.ask([ana], bringing)
        await bringing.ask()
        assert [list(each) for each in await stars.take([ana], bringing)] == [[1 << 23]]
    ask = world.wire.ask

    async def meanwhile(*commands: Command) -> list[object]:
        await world.rooms.redis.delete(lists.key(ana))
        return await ask(*commands)

    monkeypatch.setattr(world.wire, "ask", meanwhile)
    with closing(Bringing(world.wire)) as bringing:
        found = await stars.take([ana, bo], bringing)

    assert ana not in lists.near.here
    assert [list(each) for each in found] == [[1 << 23], [2 << 23]]
