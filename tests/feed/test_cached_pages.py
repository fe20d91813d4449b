"""A page that is read again comes from the cache, and never when anything about it has changed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import closing

import pytest

from tests.feed.world import RandomRanker, World
from tintype.base.ids import AccountId, PostId
from tintype.comments import CommentDraft
from tintype.feed import FeedPage, ViewerStates
from tintype.feed.celebrities import CelebrityLists
from tintype.feed.page_reader import PAGE_TTL_S
from tintype.feed.post_lists import PostLists
from tintype.feed.viewer_state import ViewerState
from tintype.posts import PostChanges
from tintype.ranking import NO_FEATURES, ViewerFeatures
from tintype.redis.client import Command
from tintype.redis.client_cache import Region
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


@pytest.fixture
def state_reads(world: World, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], list[int]]]:
    """The people and posts of each read of a viewer's state."""
    reads: list[tuple[list[int], list[int]]] = []
    extend = ViewerStates.extend

    async def record(
        self: ViewerStates, state: ViewerState, people: list[AccountId], posts: list[PostId]
    ) -> None:
        reads.append((sorted(people), sorted(posts)))
        await extend(self, state, people, posts)

    monkeypatch.setattr(ViewerStates, "extend", record)
    return reads


@pytest.mark.parametrize(("change", "reads_each"), [("like", []), ("save", ["post"])])
async def test_after_a_like_nothing_is_read_again_and_after_a_save_its_post(
    world: World,
    elsewhere: Rooms,
    state_reads: list[tuple[list[int], list[int]]],
    change: str,
    reads_each: list[str],
) -> None:
    ana, bo, post = await publish_to_follower(world)
    other = await world.post(bo)
    await world.work()
    await CHANGES[change](elsewhere, ana, bo, other)  # from here on the viewer's key names what changes
    await read_until_cached(world, ana)
    state_reads.clear()

    await CHANGES[change](elsewhere, ana, bo, post)
    changed = await read(world.rooms, ana)
    await UNDONE[change](elsewhere, ana, bo, post)
    undone = await read(world.rooms, ana)

    flags = [
        {entry.id: entry.has_liked or entry.has_saved for entry in page.entries} for page in (changed, undone)
    ]
    assert flags == [{post: True, other: True}, {post: False, other: True}]
    assert state_reads == [([], [post]) for _ in reads_each] * 2


async def test_entries_that_nothing_has_changed_are_used_again(world: World, elsewhere: Rooms) -> None:
    ana, bo, post = await publish_to_follower(world)
    other = await world.post(bo)
    await world.work()
    await elsewhere.posts.like(other, ana)  # from here on the viewer's key names what changes
    before = {entry.id: entry for entry in (await read_until_cached(world, ana)).entries}

    await elsewhere.posts.like(post, ana)
    after = {entry.id: entry for entry in (await read(world.rooms, ana)).entries}

    assert after[other] is before[other]
    assert (before[post].has_liked, after[post].has_liked) == (False, True)

    await elsewhere.graph.mute(ana, bo, stories=True)
    assert (await read(world.rooms, ana)).entries[0] is not after[other], (
        "the viewer's relations are read again"
    )


async def test_a_state_that_cannot_be_cached_is_good_for_its_own_request(
    world: World,
    elsewhere: Rooms,
    state_reads: list[tuple[list[int], list[int]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ana, bo, post = await publish_to_follower(world)
    other = await world.post(bo)
    await world.work()
    await elsewhere.posts.like(other, ana)
    await read_until_cached(world, ana)
    state_reads.clear()
    await elsewhere.posts.like(post, ana)

    def overtake(*_arguments: object) -> None:
        """An invalidation overtakes every reply: none of them may be cached."""

    with monkeypatch.context() as patch:
        patch.setattr(Region, "begin_read", overtake)
        page = await read(world.rooms, ana)

    assert [entry.has_liked for entry in page.entries] == [True, True]
    assert state_reads == []
    await elsewhere.posts.unlike(post, ana)
    assert [entry.has_liked for entry in (await read(world.rooms, ana)).entries] == [True, False]


async def test_whoever_changes_more_than_likes_and_saves_is_read_again_as_a_whole(
    world: World, elsewhere: Rooms, state_reads: list[tuple[list[int], list[int]]]
) -> None:
    ana, bo, post = await publish_to_follower(world)
    await elsewhere.posts.like(post, ana)
    await read_until_cached(world, ana)
    state_reads.clear()

    await elsewhere.graph.mute(ana, bo, stories=True)
    await elsewhere.posts.unlike(post, ana)
    page = await read(world.rooms, ana)

    assert [entry.has_liked for entry in page.entries] == [False]
    assert state_reads == [([bo], [post])]


async def test_what_is_named_over_another_connection_is_not_relied_on(
    world: World, elsewhere: Rooms, state_reads: list[tuple[list[int], list[int]]]
) -> None:
    ana, bo, post = await publish_to_follower(world)
    await elsewhere.posts.like(post, ana)
    await read_until_cached(world, ana)
    state_reads.clear()
    world.redis_client.client_cache.connection_lost()
    world.redis_client.client_cache.connection_opened()

    await read(world.rooms, ana)

    assert state_reads == [([bo], [post])]


async def test_an_order_is_used_again_until_it_expires_or_a_post_arrives(
    world: World, elsewhere: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, bo, post = await publish_to_follower(world)
    await world.work()
    ranked: list[int] = []

    async def same_features(*_: object) -> ViewerFeatures:
        return NO_FEATURES

    async def count(
        _: RandomRanker, viewer: AccountId, candidates: Sequence[PostId], *__: object
    ) -> list[PostId]:
        ranked.append(viewer)
        return list(candidates)

    monkeypatch.setattr(RandomRanker, "from_read", same_features)
    monkeypatch.setattr(RandomRanker, "order", count)

    async def read_ranked() -> tuple[int, dict[int, bool]]:
        page = await world.rooms.feed.read(ana, mode="ranked", limit=20)
        return len(ranked), {entry.id: entry.has_liked for entry in page.entries}

    first = await read_ranked()
    await elsewhere.posts.like(post, ana)
    liked = await read_ranked()
    second_post = await world.post(bo)
    await world.work()
    times, shown = await read_ranked()
    world.clock.now += PAGE_TTL_S
    expired = await read_ranked()

    assert first == (1, {post: False})
    assert liked == (1, {post: True})
    assert (times > 1, shown) == (True, {post: True, second_post: False})
    assert expired == (times + 1, shown)


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
        self: ViewerStates,
        viewer: AccountId,
        people: Collection[AccountId],
        posts: Collection[PostId],
        state: ViewerState | None = None,
    ) -> ViewerState:
        state = await read_state(self, viewer, people, posts, state)
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

    def die(_self: ViewerInvalidation, *_viewers: AccountId) -> list[Command]:
        return []

    with monkeypatch.context() as patch:
        patch.setattr(ViewerInvalidation, "commands", die)
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
