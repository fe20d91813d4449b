"""Model test: five people act at random while jobs die, repeat and come late; the tables say what each must see."""

import asyncio
import os
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.feed.world import World, first_run_too_long
from tests.graph.graph_state import losing
from tintype.accounts import AccountNotFound, ProfileUpdate
from tintype.base.ids import AccountId, PostId
from tintype.feed import Mode
from tintype.feed.cursors import MODES
from tintype.graph import RequestNotFound
from tintype.posts import PostNotFound

T = TypeVar("T")
EXAMPLES = max(10, int(os.environ.get("TINTYPE_MODEL_EXAMPLES", "0")))
"""More for a longer search; never fewer than what the suite promises."""
STEPS = 25
PATIENCE_S = 600
person, other_person = st.integers(0, 4), st.integers(0, 4)
number = st.integers(0, 1_000_000)


class FeedMachine(RuleBasedStateMachine):
    """Runs in a thread of its own; what it does runs in the loop of the test."""

    world: ClassVar[World]
    loop: ClassVar[asyncio.AbstractEventLoop]
    runs: ClassVar[int] = 0

    def run(self, deed: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(deed, self.loop).result(timeout=PATIENCE_S)

    @initialize(seeds=st.lists(st.tuples(person, other_person), max_size=12))
    def join(self, seeds: list[tuple[int, int]]) -> None:
        FeedMachine.runs += 1
        self.posts: list[tuple[AccountId, PostId]] = []
        self.run(self.world.reset())
        self.people = self.run(self.world.people(*(f"h{self.runs}p{each}" for each in range(5))))
        for one, other in seeds:
            self.follow(one, other)

    @rule(one=person, other=other_person, is_lost=st.booleans())
    def follow(self, one: int, other: int, is_lost: bool = False) -> None:
        """Somebody follows somebody, whose shard may be away for the moment."""
        if one != other:
            with losing(self.world.rooms, lambda: is_lost):
                self.try_to(self.world.rooms.graph.follow(self.people[one], self.people[other]))

    @rule(one=person, other=other_person)
    def unfollow(self, one: int, other: int) -> None:
        self.run(self.world.rooms.graph.unfollow(self.people[one], self.people[other]))

    @rule(one=person, other=other_person, is_muted=st.booleans())
    def mute(self, one: int, other: int, is_muted: bool) -> None:
        if one != other:
            graph = self.world.rooms.graph
            self.try_to(graph.mute(self.people[one], self.people[other], posts=is_muted))

    @rule(one=person, other=other_person, is_blocked=st.booleans())
    def block(self, one: int, other: int, is_blocked: bool) -> None:
        graph = self.world.rooms.graph
        if one != other:
            pair = self.people[one], self.people[other]
            self.try_to(graph.block(*pair) if is_blocked else graph.unblock(*pair))

    @rule(one=person, is_private=st.booleans())
    def hide(self, one: int, is_private: bool) -> None:
        self.run(
            self.world.rooms.accounts.change_profile(self.people[one], ProfileUpdate(is_private=is_private))
        )

    @rule(one=person)
    def approve(self, one: int) -> None:
        for other in self.people:
            self.try_to(self.world.rooms.graph.approve(self.people[one], other))

    @rule(one=person, count=st.integers(1, 3))
    def post(self, one: int, count: int) -> None:
        for _ in range(count):
            self.posts.append((self.people[one], self.run(self.world.post(self.people[one]))))

    @precondition(lambda self: self.posts)
    @rule(which=number, deed=st.sampled_from(["delete", "archive", "unarchive", "unarchive"]))
    def move(self, which: int, deed: str) -> None:
        author, post_id = self.posts[which % len(self.posts)]
        self.try_to(getattr(self.world.rooms.posts, deed)(post_id, author))

    @rule()
    def empty_redis(self) -> None:
        self.run(self.world.empty_redis())

    @rule(which=st.lists(number, max_size=4), trips=st.integers(0, 6))
    def work_badly(self, which: list[int], trips: int) -> None:
        """Some of the events are handled, in any order; the worker loses Redis at some moment of each."""
        for each in which:
            pending = list(self.run(self.world.pending()).values())
            if not pending:
                return
            self.world.redis_client.trips_left = trips
            try:
                self.run(self.world.deliver(pending[each % len(pending)]))
            except RedisConnectionError:
                continue
            finally:
                self.world.redis_client.trips_left = None

    @rule(one=person, mode=st.sampled_from(["ranked", "following"]))
    def look(self, one: int, mode: Mode) -> None:
        """A read in the middle of everything shows nothing that may not be seen, and nothing twice."""
        viewer = self.people[one]
        found = self.run(self.world.read(viewer, mode=mode, limit=3))
        assert len(found) == len(set(found))
        assert set(found) <= set(self.run(self.world.expected(viewer)))

    @rule(is_later=st.booleans())
    def wait(self, is_later: bool) -> None:
        """An hour passes, or has not: what was published is no longer new."""
        self.world.calendar.ahead = timedelta(hours=1 if is_later else 0)

    @rule(is_backwards=st.booleans())
    def settle(self, is_backwards: bool) -> None:
        self.run(self.world.work(is_backwards=is_backwards))

    @rule(is_backwards=st.booleans(), limit=st.integers(1, 7), is_busy=st.booleans(), which=person)
    def compare(self, is_backwards: bool, limit: int, is_busy: bool, which: int) -> None:
        """Once everything has been handled, each feed is what the tables say, in both modes."""
        self.run(self.world.work(is_backwards=is_backwards))
        for each, viewer in enumerate(self.people):
            author = self.people[which] if is_busy and each in {which, limit % 5} else None
            for mode in MODES:
                self.run(self.check(viewer, mode, limit, busy=author))

    async def check(self, viewer: AccountId, mode: Mode, limit: int, busy: AccountId | None) -> None:
        """Page by page; while somebody is busy, posts arrive between the first pages."""
        expected = await self.world.expected(viewer)
        found: list[PostId] = []
        arrivals = 2 if busy is not None else 0
        async for page in self.world.pages(viewer, mode=mode, limit=limit):
            found += page
            if busy is not None and arrivals:
                arrivals -= 1
                await self.world.post(busy)
                await self.world.work()
        assert sorted(found, reverse=True) == expected, mode
        assert mode == "ranked" or found == expected
        if mode == "ranked" and limit > 1:
            authors = await self.world.authors(found)
            assert first_run_too_long(authors) in {None, len(authors)}, authors

    def try_to(self, deed: Coroutine[Any, Any, object]) -> None:
        try:
            self.run(deed)
        except (AccountNotFound, PostNotFound, RequestNotFound):
            return

    def teardown(self) -> None:
        if hasattr(self, "people"):
            self.compare(is_backwards=False, limit=5, is_busy=False, which=0)


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE_S + 3 * EXAMPLES)
async def test_whatever_happens_each_feed_becomes_what_the_tables_say(world: World) -> None:
    FeedMachine.world, FeedMachine.loop = world, asyncio.get_running_loop()
    bounds = settings(
        max_examples=EXAMPLES,
        stateful_step_count=STEPS,
        deadline=None,
        derandomize="TINTYPE_MODEL_EXAMPLES" not in os.environ,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    await asyncio.to_thread(run_state_machine_as_test, FeedMachine, settings=bounds)
