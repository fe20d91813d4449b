"""Builds every room once, from settings read once.

Processes differ only in what they do with the rooms: `web` serves them, `worker` runs their handlers.
"""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client
from nats.errors import Error as BusError
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from shardwright.running import Shards
from tintype import accounts, graph, media, posts
from tintype.accounts import Accounts
from tintype.base import leases, outbox
from tintype.base.bus import Names, connect_bus
from tintype.base.errors import SettingsInvalid
from tintype.base.jobs import Handler, Schedule
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings, directory_dsn, server_dsns
from tintype.feed import Feed, Timelines
from tintype.graph import Graph
from tintype.media import MediaLibrary, MediaRoom, Progress, build_media
from tintype.posts import Posts

QUERIES = (leases.QUERIES, outbox.QUERIES, accounts.QUERIES, graph.QUERIES, media.QUERIES, posts.QUERIES)


@dataclass(frozen=True)
class Rooms:
    """The house, furnished."""

    settings: Settings
    shards: Shards
    redis: Redis
    bus: Client
    accounts: Accounts
    graph: Graph
    media: MediaLibrary
    media_room: MediaRoom
    posts: Posts
    feed: Feed

    def handlers(self) -> list[Handler]:
        """Everything that reacts to events."""
        return [*self.graph.handlers(), *self.media_room.handlers(), *self.feed.handlers()]

    def schedules(self) -> list[Schedule]:
        """Everything that repeats by the clock."""
        return [*self.media_room.schedules()]


@contextlib.asynccontextmanager
async def open_rooms(
    settings: Settings, *, process: str, registry: CollectorRegistry | None = None
) -> AsyncGenerator[Rooms]:
    """Connect to the engines and build the rooms; everything is closed at the end.

    `registry` is where the numbers of the shard router are shown.
    """
    _check_engines(settings)
    async with contextlib.AsyncExitStack() as stack:
        shards = await Shards.open(
            directory_dsn(settings), queries=QUERIES, dsns=server_dsns(settings), registry=registry
        )
        stack.push_async_callback(shards.close)
        redis = Redis.from_url(settings.redis)
        stack.push_async_callback(redis.aclose)
        bus = await connect_bus(settings, name=process)
        stack.push_async_callback(_close_bus, bus)
        yield build_rooms(settings, shards, redis, bus)


def build_rooms(settings: Settings, shards: Shards, redis: Redis, bus: Client) -> Rooms:
    """The rooms on connections that somebody else opened."""
    names = Names(settings.namespace)

    async def poke(server: str) -> None:
        with contextlib.suppress(BusError):  # the relay's poll finds the row when the poke is lost
            await bus.publish(names.poke(server))

    async def tell_progress(progress: Progress) -> None:
        with contextlib.suppress(BusError):  # news for those who watch; the row says the same
            await bus.publish(names.media_progress, msgspec.json.encode(progress))

    events = Outbox(poke)
    pictures = build_media(settings, shards, redis, events, tell=tell_progress)
    people = Accounts(shards)
    follows = Graph(shards, events, people)
    shared = Posts(shards, events)
    return Rooms(
        settings=settings,
        shards=shards,
        redis=redis,
        bus=bus,
        accounts=people,
        graph=follows,
        media=pictures.library,
        media_room=pictures,
        posts=shared,
        feed=Feed(Timelines(redis, settings.namespace), follows, shared),
    )


def _check_engines(settings: Settings) -> None:
    for name in ("postgres", "redis", "nats"):
        if not getattr(settings, name):
            raise SettingsInvalid(
                f"No address for {name}. `tintype up` starts embedded servers and tells its processes where they are; "
                f"to run a process by itself, set {name} in tintype.toml or TINTYPE_{name.upper()}."
            )


async def _close_bus(bus: Client) -> None:
    with contextlib.suppress(BusError):  # nothing left to save on a bus that is already gone
        await bus.close()
