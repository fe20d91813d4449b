"""A page that is read again comes from the cache, and never when anything about it has changed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import closing

import pytest

from tests.feed.world import World
from tintype.base.ids import AccountId, PostId
from tintype.comments import CommentDraft
from tintype.feed import FeedPage, ViewerStates
from tintype.feed.celebrities import CelebrityLists
from tintype.feed.page_reader import PAGE_TTL_S
from tintype.feed.post_lists import PostLists
from tintype.feed.viewer_state import ViewerState
from tintype.posts import PostChanges
from tintype.redis.client import Command
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import ViewerInvalidation
from tintype.wiring import Rooms, build_rooms

READS_UNTIL_CACHED = 50
Change = Callable[[Rooms, AccountId, AccountId, PostId], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "unfollow": lambda rooms, ana, bo, _: rooms.graph.unfollow(ana, bo),
    "remove follower": lambda rooms, ana, bo, _: rooms.graph.remove_follower(bo, ana),
    "mute": lambda rooms, ana, bo, _: rooms.graph.mute(ana, bo, posts=True),
    "block": lambda rooms, ana, bo, _: rooms.graph.block(ana, bo),
    "be blocked": lambda rooms, ana, bo, _: rooms.graph.block(bo, ana),
    "like": lambda rooms, ana, _, post: rooms.posts.like(post, ana),
    "save": lambda rooms, ana, _, post: rooms.saves.save(post, ana),
    "archive": lambda rooms, _, bo, post: rooms.posts.archive(post, bo),
    "remove": lambda rooms, _, bo, post: rooms.posts.remove(post, bo),
    "hide": lambda rooms, _, bo, post: rooms.posts.hide(post, bo),
    "edit": lambda rooms, _, bo, post: rooms.posts.edit(post, bo, PostChanges(caption="Other words")),
    "suspend": lambda rooms, _, bo, __: rooms.accounts.suspend(bo),
    "rename": lambda rooms, _, bo, __: rooms.accounts.rename(bo, "bo.otherwise"),
    "like of another": lambda rooms, _, bo, post: rooms.posts.like(post, bo),
    "buffered like": lambda rooms, _, __, post: rooms.posts.sources().like_counters.buffer(post, 2),
    "comment": lambda rooms, _, bo, post: rooms.comments.add(post, bo, CommentDraft("Well done")),
}
UNDONE: dict[str, Change] = {
    "mute": lambda rooms, ana, bo, _: rooms.graph.mute(ana, bo, posts=False),
    "like": lambda rooms, ana, _, post: rooms.posts.unlike(post, ana),
    "save": lambda rooms, ana, _, post: rooms.saves.unsave(post, ana),
    "suspend": lambda rooms, _, bo, __: rooms.accounts.restore(bo),
}


@pytest.fixture
async def elsewhere(world: World) -> AsyncIterator[Rooms]:
    """The same rooms as in another process: connected to these only through Redis, without a client-side cache."""
    rooms = world.rooms
    other = build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.nats)
    yield other
    await other.notifications.close()


async def read(rooms: Rooms, viewer: AccountId) -> FeedPage:
    return await rooms.feed.read(viewer, mode="following", limit=20)


async def read_until_cached(world: World, viewer: AccountId) -> FeedPage:
    """The page once all of it is in the client-side cache and no invalidation by earlier writes is under way."""
    page = await read(world.rooms, viewer)
    for _ in range(READS_UNTIL_CACHED):
        last, page = page, await read(world.rooms, viewer)
        if page is last:
            return page
    pytest.fail("the page never came from the cache")


async def publish_to_follower(world: World) -> tuple[AccountId, AccountId, PostId]:
    """Ana follows Bo, who has published a post."""
    ana, bo = await world.people("ana", "bo")
    await world.rooms.graph.follow(ana, bo)
    return ana, bo, await world.post(bo)


@pytest.mark.parametrize("what", CHANGES)
async def test_what_changes_in_another_process_shows_in_the_next_read(
    world: World, elsewhere: Rooms, what: str
) -> None:
    ana, bo, post = await publish_to_follower(world)
    before = await read_until_cached(world, ana)

    await CHANGES[what](elsewhere, ana, bo, post)

    after = await read(world.rooms, ana)
    assert after.entries != before.entries
    assert after.entries == (await read(elsewhere, ana)).entries


@pytest.mark.parametrize("what", UNDONE)
async def test_what_is_undone_in_another_process_shows_in_the_next_read(
    world: World, elsewhere: Rooms, what: str
) -> None:
    ana, bo, post = await publish_to_follower(world)
    await CHANGES[what](elsewhere, ana, bo, post)
    before = await read_until_cached(world, ana)

    await UNDONE[what](elsewhere, ana, bo, post)

    after = await read(world.rooms, ana)
    assert after.entries != before.entries
    assert after.entries == (await read(elsewhere, ana)).entries


async def test_a_cached_page_is_of_one_mode_and_size(world: World) -> None:
    ana, bo, first = await publish_to_follower(world)
    second = await world.post(bo)
    await world.work()
    await read_until_cached(world, ana)

    one = await world.feed.read(ana, mode="following", limit=1)
    ranked = await world.feed.read(ana, mode="ranked", limit=20)

    assert [entry.id for entry in one.entries] == [second]
    assert {entry.id for entry in ranked.entries} == {first, second}


async def test_a_cached_page_expires(world: World) -> None:
    ana, _, _ = await publish_to_follower(world)
    page = await read_until_cached(world, ana)
    world.clock.now += PAGE_TTL_S

    again = await read(world.rooms, ana)

    assert again is not page
    assert again == page


async def test_nothing_stays_cached_after_the_connection_was_lost(world: World, elsewhere: Rooms) -> None:
    ana, bo, _ = await publish_to_follower(world)
    await read_until_cached(world, ana)
    world.redis_client.trips_left = 0
    await elsewhere.graph.unfollow(ana, bo)

    assert (await read(world.rooms, ana)).entries == []

    world.redis_client.trips_left = None
    assert (await read(world.rooms, ana)).entries == []


async def test_a_change_while_viewer_state_is_read_is_not_lost(
    world: World, elsewhere: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = await publish_to_follower(world)
    await read(world.rooms, ana)
    has_read, goes_on = asyncio.Event(), asyncio.Event()
    read_state = ViewerStates.read

    async def slowly(
        self: ViewerStates, viewer: AccountId, people: Collection[AccountId], posts: Collection[PostId]
    ) -> ViewerState:
        state = await read_state(self, viewer, people, posts)
        has_read.set()
        await goes_on.wait()
        return state

    await elsewhere.graph.mute(ana, bo, stories=True)  # nothing that shows, but the state is read again
    with monkeypatch.context() as patch:
        patch.setattr(ViewerStates, "read", slowly)
        reading = asyncio.create_task(read(world.rooms, ana))
        await has_read.wait()
    await elsewhere.graph.unfollow(ana, bo)
    goes_on.set()

    assert len((await reading).entries) == 1  # as it was when the read began
    assert (await read(world.rooms, ana)).entries == []


async def test_the_event_handler_invalidates_for_a_process_that_died_after_its_commit(
    world: World, elsewhere: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, _ = await publish_to_follower(world)
    await read_until_cached(world, ana)

    async def die(self: ViewerInvalidation, *_viewers: AccountId) -> None:
        assert isinstance(self, ViewerInvalidation)

    with monkeypatch.context() as patch:
        patch.setattr(ViewerInvalidation, "invalidate", die)
        await elsewhere.graph.unfollow(ana, bo)
    await world.work()

    assert (await read(world.rooms, ana)).entries == []


async def test_a_celebritys_list_may_be_invalidated_while_another_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo = await world.people("ana", "bo")
    lists = PostLists(world.redis_client, "elsewhere:star", ttl_s=60)
    celebrities = CelebrityLists(world.redis_client, lists, world.builder)
    for celebrity, number in ((ana, 1), (bo, 2)):
        token = (await lists.begin_build(celebrity))[celebrity]
        await lists.fill(celebrity, token, [number << 23])
        await lists.extend(celebrity)
    with closing(TrackedRead(world.redis_client)) as tracked:
        celebrities.add_to_read([ana], tracked)
        await tracked.execute()
        assert [list(each) for each in await celebrities.from_read([ana], tracked)] == [[1 << 23]]
    execute = world.redis_client.execute

    async def meanwhile(*commands: Command) -> list[object]:
        await world.rooms.redis.delete(lists.key(ana))
        return await execute(*commands)

    monkeypatch.setattr(world.redis_client, "execute", meanwhile)
    with closing(TrackedRead(world.redis_client)) as tracked:
        found = await celebrities.from_read([ana, bo], tracked)

    assert ana not in lists.cached.values
    assert [list(each) for each in found] == [[1 << 23], [2 << 23]]
