"""A small house for the tests of the feed: a low threshold, tiny parts and windows, a Redis that fails on purpose."""

import dataclasses
import random
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import asyncpg
import msgspec
from argon2 import PasswordHasher
from redis.exceptions import ConnectionError as RedisGone

from tests.support import PASSWORD
from tintype.base.bringing import Bringing
from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.base.outbox import Outbox
from tintype.base.ties import Ties
from tintype.base.wire import Command, SharedWire
from tintype.feed import Feed, Mode, Stances, Visible
from tintype.feed.building import Building, Built
from tintype.feed.lists import Lists
from tintype.ranking import NOBODY, Known
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


class FailingWire(SharedWire):
    """A connection that is lost after a number of round trips, or all the time."""

    left: int | None = None
    trips: int = 0

    async def ask(self, *commands: Command) -> list[Any]:
        self.trips += 1
        if self.left is not None:
            if self.left <= 0:
                if self._link is not None:
                    self._link.abandon()
                raise RedisGone("lost on purpose")
            self.left -= 1
        return await super().ask(*commands)


class Moods:
    """An order that is another one at every look."""

    def __init__(self) -> None:
        self._chance = random.Random(7)  # noqa: S311 - a schedule

    def ask(self, viewer: AccountId, bringing: Bringing) -> None:
        """Moods need no reason."""

    async def take(self, viewer: AccountId, bringing: Bringing) -> Known:  # noqa: ARG002 - nothing was asked
        """The same as last time, or something new: a page may be kept, or must not be."""
        return self._chance.choice((NOBODY, Known.read([None, None, b"seen"])))

    async def order(
        self,
        viewer: AccountId,  # noqa: ARG002 - likewise
        candidates: Sequence[PostId],
        known: Known,  # noqa: ARG002 - likewise
    ) -> list[PostId]:
        ids = list(candidates)
        self._chance.shuffle(ids)
        return ids


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """The house, and what its worker has done so far."""

    rooms: Rooms
    wire: FailingWire
    clock: Clock
    lists: Lists
    building: Building
    servers: list[asyncpg.Connection]
    done: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    @property
    def feed(self) -> Feed:
        return self.rooms.feed

    async def person(self, name: str) -> AccountId:
        """Somebody joins."""
        return (await self.rooms.accounts.sign_up(name, PASSWORD)).account.id

    async def people(self, *names: str) -> list[AccountId]:
        return [await self.person(name) for name in names]

    async def post(self, author: AccountId, count: int = 1) -> PostId:
        """Somebody publishes; the pictures are rows without files. Returns the last post."""
        post_id = PostId(0)
        for _ in range(count):
            rows = await self.sql(author, NEW_MEDIA.format(author))
            post_id = await self.rooms.posts.publish(author, [MediaId(rows[0]["id"])])
        return post_id

    async def sql(self, near: int, statement: str) -> list[asyncpg.Record]:
        """Run a statement on the shard that an id names; returns its rows."""
        async with self.rooms.shards.owner(near).begin() as tx:
            return cast("list[asyncpg.Record]", await tx.connection.fetch(statement))

    async def begin_anew(self) -> None:
        """Nothing that was announced before matters, and Redis is empty."""
        self.wire.left = None
        for server in self.servers:
            await server.execute("DELETE FROM common.outbox")
        await self.empty_redis()
        self.clock.now += LATER_S

    async def empty_redis(self) -> None:
        """Redis has forgotten everything, scripts too."""
        await self.rooms.redis.flushdb()
        await self.wire.ask(("SCRIPT", "FLUSH"))

    async def waiting(self) -> dict[tuple[int, int], Event]:
        """What has been announced and not been handled."""
        found: dict[tuple[int, int], Event] = {}
        for number, server in enumerate(self.servers):
            for row in cast("list[asyncpg.Record]", await server.fetch(OUTBOX)):
                if (number, row["id"]) not in self.done:
                    found[number, row["id"]] = Event.known[row["event"]].decode(row["payload"])
        return found

    async def deliver(self, event: Event) -> None:
        """Hand an event to whoever reacts to it, as the worker would."""
        for handler in (*self.rooms.feed.handlers(), *self.rooms.graph.handlers()):
            if handler.event is type(event):
                await handler.run(event)

    async def work(self, *, is_backwards: bool = False) -> None:
        """Handle everything, and what comes of it, until nothing is left."""
        while waiting := await self.waiting():
            for key in sorted(waiting, reverse=is_backwards):
                await self.deliver(waiting[key])
                self.done.add(key)
        self.clock.now += LATER_S

    async def read(self, viewer: AccountId, *, mode: Mode = "following", limit: int = 50) -> list[PostId]:
        """A whole scroll."""
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

    async def built(self, viewer: AccountId) -> Built:
        """A timeline straight from the shards."""
        return await self.building.timeline(viewer)

    async def expected(self, viewer: AccountId) -> list[PostId]:
        """What the tables say, row by row: the oracle."""
        followed = await self.sql(viewer, FOLLOWED.format(viewer))
        found: list[int] = []
        for author in {viewer, *(AccountId(row["followee_id"]) for row in followed)}:
            found += [row["id"] for row in await self.sql(author, SHOWN.format(author))]
        return [PostId(each) for each in sorted(found, reverse=True)]


@asynccontextmanager
async def open_world(opened: Rooms) -> AsyncGenerator[World]:
    """A house of its own on the connections of another."""
    settings = msgspec.structs.replace(
        opened.settings, posts_per_day=10_000, namespace=f"{opened.settings.namespace}_feed"
    )
    wire, clock = FailingWire(opened.redis), Clock()
    rooms = build_rooms(settings, opened.shards, opened.redis, opened.bus, wire)
    rooms.accounts.use_hasher(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))

    async def no_poke(_server: str) -> None:
        return

    feed = Feed(
        rooms.shards,
        Outbox(no_poke),
        wire,
        graph=rooms.graph,
        posts=rooms.posts,
        visible=Visible(
            rooms.shards,
            rooms.cache,
            rooms.posts,
            rooms.accounts,
            stances=Stances(rooms.shards, Ties(wire, settings.namespace)),
        ),
        ranking=Moods(),
        namespace=opened.settings.namespace,
        idle_days=7,
        push_followers=THRESHOLD,
        clock=clock,
    )
    servers = [cast("asyncpg.Connection", await asyncpg.connect(dsn)) for dsn in settings.postgres]
    try:
        yield World(
            dataclasses.replace(rooms, feed=feed),
            wire,
            clock,
            Lists(wire, f"{opened.settings.namespace}:timeline", keep_s=60),
            Building(rooms.shards, rooms.graph),
            servers,
        )
    finally:
        for server in servers:
            await server.close()
        await rooms.notifications.close()
        await wire.close()
