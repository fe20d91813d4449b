"""Rooms for the tests of the feed: a low celebrity threshold, tiny parts and windows, a Redis that fails on purpose."""

import dataclasses
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import asyncpg
import msgspec
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.support import PASSWORD, wait_past
from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.outbox import Outbox
from tintype.feed import Feed, FollowedTags, Hydrator, Mode, ViewerStates
from tintype.feed.new_posts import new_from
from tintype.feed.post_lists import PostLists
from tintype.feed.timeline_builder import BuiltTimeline, TimelineBuilder
from tintype.posts import Posts
from tintype.ranking import NO_FEATURES, ViewerFeatures
from tintype.redis.client import Command, MultiplexedRedisClient
from tintype.redis.tracked_read import TrackedRead
from tintype.redis.viewer_invalidation import ViewerInvalidation
from tintype.wiring import Rooms, build_rooms

OUTBOX = "SELECT id, event, payload FROM common.outbox ORDER BY id"
NEW_MEDIA = """
INSERT INTO media (id, account_id, folder, width, height, expires_at)
VALUES (next_id(), {0}, 'none', 10, 10, now() + interval '1 hour') RETURNING id
"""
FOLLOWED = """
SELECT followee_id FROM following AS f WHERE account_id = {0} AND NOT is_requested
AND NOT EXISTS (SELECT FROM attitudes AS t WHERE t.account_id = {0} AND t.target_id = f.followee_id AND t.mutes_posts)
AND NOT EXISTS (SELECT FROM blocks AS b WHERE b.account_id = {0} AND b.blocked_id = f.followee_id)
AND NOT EXISTS (
    SELECT FROM blocked_by AS b WHERE b.account_id = {0} AND b.is_active AND b.blocker_id = f.followee_id
)
"""
SHOWN = """
SELECT p.id FROM posts AS p JOIN accounts AS a ON a.id = p.author_id
WHERE p.author_id = {0} AND a.status = 'active'
AND p.archived_at IS NULL AND p.hidden_at IS NULL AND p.deleted_at IS NULL
"""
THRESHOLD = 3
LATER_S = 5.0


class FailingRedisClient(MultiplexedRedisClient):
    """A client whose connection is lost after a number of round trips; with 0, all the time."""

    trips_left: int | None = None
    trips: int = 0

    async def execute(self, *commands: Command) -> list[Any]:
        self.trips += 1
        if self.trips_left is not None:
            if self.trips_left <= 0:
                if self._connection is not None:
                    self._connection.abandon()
                raise RedisConnectionError("lost on purpose")
            self.trips_left -= 1
        return await super().execute(*commands)


class RandomRanker:
    """Another order at every read."""

    def __init__(self, posts: Posts) -> None:
        self._posts = posts
        self._chance = random.Random(7)  # noqa: S311 - a schedule

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Nothing: a random order needs no features."""

    async def from_read(self, viewer: AccountId, read: TrackedRead) -> ViewerFeatures:  # noqa: ARG002 - nothing was read
        """The same features as last time, or others: a cached page may be used, or must not be."""
        return self._chance.choice((NO_FEATURES, ViewerFeatures.parse([None, None, b"seen"])))

    async def order(
        self,
        viewer: AccountId,  # noqa: ARG002 - likewise
        candidates: Sequence[PostId],
        features: ViewerFeatures,  # noqa: ARG002 - likewise
    ) -> list[PostId]:
        ids = list(candidates)
        self._chance.shuffle(ids)
        return ids

    async def find_authors(self, ids: Sequence[PostId]) -> list[AccountId]:
        """As the tables have them."""
        found = await self._posts.find_unfiltered(ids)
        return [found[each].author_id if each in found else AccountId(0) for each in ids]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Calendar:
    """The date by which posts are new; `ahead` of the true one to make them old, or `stopped`."""

    ahead: timedelta = timedelta()
    stopped: datetime | None = None

    def __call__(self) -> datetime:
        return self.stopped or datetime.now(UTC) + self.ahead


@dataclass
class World:
    """The rooms, and which events have been handled so far."""

    rooms: Rooms
    redis_client: FailingRedisClient
    clock: Clock
    calendar: Calendar
    lists: PostLists
    builder: TimelineBuilder
    servers: list[asyncpg.Connection]
    done: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    @property
    def feed(self) -> Feed:
        return self.rooms.feed

    async def person(self, name: str) -> AccountId:
        """Somebody signs up."""
        return (await self.rooms.accounts.sign_up(name, PASSWORD)).account.id

    async def people(self, *names: str) -> list[AccountId]:
        return [await self.person(name) for name in names]

    async def post(self, author: AccountId, count: int = 1) -> PostId:
        """Somebody publishes; the pictures are rows without files. Returns the last post."""
        post_id = PostId(0)
        for _ in range(count):
            rows = await self.sql(author, NEW_MEDIA.format(author))
            post_id = await self.rooms.posts.publish(author, [MediaId(rows[0]["id"])])
            await wait_past(self.rooms, post_id)  # posts of other authors from now on are newer
        return post_id

    async def sql(self, any_id: int, statement: str) -> list[asyncpg.Record]:
        """Run a statement on the shard of an id; returns its rows."""
        async with self.rooms.shards.owner(any_id).begin() as tx:
            return cast("list[asyncpg.Record]", await tx.connection.fetch(statement))

    async def reset(self) -> None:
        """Delete all events, and empty Redis."""
        self.redis_client.trips_left = None
        for server in self.servers:
            await server.execute("DELETE FROM common.outbox")
        await self.empty_redis()
        self.clock.now += LATER_S
        self.calendar.ahead = timedelta()

    async def empty_redis(self) -> None:
        """Empty Redis, scripts included."""
        await self.rooms.redis.flushdb()
        await self.redis_client.execute(("SCRIPT", "FLUSH"))

    async def pending(self) -> dict[tuple[int, int], Event]:
        """Events that have been published and not handled."""
        found: dict[tuple[int, int], Event] = {}
        for number, server in enumerate(self.servers):
            for row in cast("list[asyncpg.Record]", await server.fetch(OUTBOX)):
                if (number, row["id"]) not in self.done:
                    found[number, row["id"]] = Event.known[row["event"]].decode(row["payload"])
        return found

    async def deliver(self, event: Event) -> None:
        """Run the handlers of an event, as the worker would."""
        for handler in (*self.rooms.feed.handlers(), *self.rooms.graph.handlers()):
            if handler.event is type(event):
                await handler.run(event)

    async def work(self, *, is_backwards: bool = False) -> None:
        """Handle all events, and those that handlers publish, until none is left."""
        while pending := await self.pending():
            for key in sorted(pending, reverse=is_backwards):
                await self.deliver(pending[key])
                self.done.add(key)
        self.clock.now += LATER_S

    async def read(self, viewer: AccountId, *, mode: Mode = "following", limit: int = 50) -> list[PostId]:
        """All pages of a scroll."""
        found: list[PostId] = []
        async for page in self.pages(viewer, mode=mode, limit=limit):
            found += page
        return found

    async def pages(self, viewer: AccountId, *, mode: Mode, limit: int) -> AsyncIterator[list[PostId]]:
        cursor = None
        while True:
            page = await self.feed.read(viewer, mode=mode, cursor=cursor, limit=limit)
            assert len(page.entries) <= limit
            yield [entry.id for entry in page.entries]
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    async def built(self, viewer: AccountId) -> BuiltTimeline:
        """A timeline straight from the shards."""
        return await self.builder.build_timeline(viewer)

    async def authors(self, ids: Sequence[PostId]) -> list[AccountId]:
        """Who published each of these posts."""
        found = await self.rooms.posts.find_unfiltered(ids)
        return [found[each].author_id for each in ids]

    async def expected(self, viewer: AccountId) -> list[PostId]:
        """What the tables say, row by row: the oracle."""
        followed = await self.sql(viewer, FOLLOWED.format(viewer))
        found: list[int] = []
        own_from = new_from(self.rooms.shards.map.layout, self.calendar())
        for author in {viewer, *(AccountId(row["followee_id"]) for row in followed)}:
            lowest = own_from if author == viewer else 0
            found += [
                row["id"] for row in await self.sql(author, SHOWN.format(author)) if row["id"] >= lowest
            ]
        return [PostId(each) for each in sorted(found, reverse=True)]


@asynccontextmanager
async def open_world(opened: Rooms) -> AsyncGenerator[World]:
    """Separate rooms on the connections of others."""
    settings = msgspec.structs.replace(
        opened.settings, posts_per_day=10_000, namespace=f"{opened.settings.namespace}_feed"
    )
    redis_client, clock = FailingRedisClient(opened.redis), Clock()
    calendar = Calendar()
    rooms = build_rooms(settings, opened.shards, opened.redis, opened.nats, redis_client)

    async def no_poke(_server: str) -> None:
        return

    invalidation = ViewerInvalidation(redis_client, settings.namespace)
    tags = FollowedTags(rooms.shards, Outbox(no_poke), rooms.limiter, invalidation)
    feed = Feed(
        rooms.shards,
        Outbox(no_poke),
        redis_client,
        graph=rooms.graph,
        hydrator=Hydrator(
            rooms.shards,
            rooms.cache,
            rooms.posts,
            rooms.accounts,
            viewer_states=ViewerStates(rooms.shards, invalidation),
        ),
        ranking=RandomRanker(rooms.posts),
        namespace=opened.settings.namespace,
        idle_days=7,
        push_followers=THRESHOLD,
        tags=tags,
        clock=clock,
        now=calendar,
    )
    rooms.posts.published.add(feed.show_own_post)
    rooms.graph.followed.add(feed.show_new_followee)
    servers = [cast("asyncpg.Connection", await asyncpg.connect(dsn)) for dsn in settings.postgres_admin]
    try:
        yield World(
            dataclasses.replace(rooms, feed=feed),
            redis_client,
            clock,
            calendar,
            PostLists(redis_client, f"{opened.settings.namespace}:timeline", ttl_s=60),
            TimelineBuilder(rooms.shards, rooms.graph, tags),
            servers,
        )
    finally:
        for server in servers:
            await server.close()
        await rooms.notifications.close()
        await redis_client.close()


def first_run_too_long(authors: Sequence[AccountId]) -> int | None:
    """Where the first run of more than two of one author ends, None where there is none.

    That must be the end of the list: as long as others are left, one of them stands in between.
    """
    start = 0
    for position, author in enumerate(authors):
        if author != authors[start]:
            if position - start > 2:
                return position
            start = position
    return len(authors) if len(authors) - start > 2 else None
