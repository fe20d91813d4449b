"""Builds every room once, from settings read once.

Processes differ only in what they do with the rooms: `web` serves them, `worker` runs their handlers.
"""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from nats.aio.client import Client
from nats.errors import Error as BusError
from obstore.store import LocalStore, ObjectStore, from_url
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from shardwright.running import Shards
from tintype import (
    accounts,
    belongings,
    comments,
    graph,
    media,
    moderation,
    notifications,
    posts,
    saves,
    search,
)
from tintype.accounts import Accounts
from tintype.base import leases, outbox
from tintype.base.bus import Names, connect_bus
from tintype.base.cache import Cache
from tintype.base.counting import HotCounts
from tintype.base.errors import SettingsInvalid
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule
from tintype.base.limits import Limiter
from tintype.base.memory import connect_redis
from tintype.base.outbox import Outbox
from tintype.base.settings import Settings, directory_dsn, server_dsns
from tintype.base.tallies import Reconciler, Tally
from tintype.belongings import Departures
from tintype.comments import Comments
from tintype.feed import Feed, Timelines
from tintype.graph import Circles, Graph, Sight, Suggestions, graph_tallies
from tintype.media import MediaBelongings, MediaLibrary
from tintype.moderation import Moderation
from tintype.notifications import Notifications
from tintype.posts import Desk, Posts, Profiles, Rules
from tintype.saves import Saves
from tintype.search import Search

QUERIES = (
    leases.QUERIES,
    outbox.QUERIES,
    accounts.QUERIES,
    graph.QUERIES,
    graph.TALLY_QUERIES,
    media.QUERIES,
    posts.QUERIES,
    comments.QUERIES,
    saves.QUERIES,
    notifications.QUERIES,
    search.QUERIES,
    moderation.QUERIES,
    belongings.QUERIES,
)

RECONCILE_EVERY_S = 6 * 3_600.0


@dataclass(frozen=True)
class Rooms:
    """The house, furnished."""

    settings: Settings
    shards: Shards
    redis: Redis
    bus: Client
    cache: Cache
    limiter: Limiter
    accounts: Accounts
    graph: Graph
    sight: Sight
    circles: Circles
    suggestions: Suggestions
    media: MediaLibrary
    posts: Posts
    profiles: Profiles
    comments: Comments
    saves: Saves
    feed: Feed
    notifications: Notifications
    search: Search
    moderation: Moderation
    departures: Departures

    def handlers(self) -> list[Handler]:
        """Everything that reacts to events."""
        return [
            *self.graph.handlers(),
            *self.posts.handlers(),
            *self.feed.handlers(),
            *self.comments.handlers(),
            *self.notifications.handlers(),
            *self.search.handlers(),
            *self.moderation.handlers(),
            *self.departures.handlers(),
        ]

    def schedules(self) -> list[Schedule]:
        """Everything that repeats by the clock."""
        return [
            *self.graph.schedules(),
            *self.suggestions.schedules(),
            Schedule("counts-reconcile", RECONCILE_EVERY_S, self._reconcile),
            *self.posts.schedules(),
            *self.comments.schedules(),
            *self.notifications.schedules(),
            *self.search.schedules(),
            *self.moderation.schedules(),
            *self.departures.schedules(),
        ]

    def tallies(self) -> list[Tally]:
        """Every count that can be compared with the rows it counts."""

        async def forget(account_id: int) -> None:
            await self.accounts.forget(AccountId(account_id))

        return [*self.posts.tallies(), *graph_tallies(forget)]

    async def _reconcile(self) -> None:
        await Reconciler(self.shards, self.tallies()).run(fix=True)


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
        redis = connect_redis(settings)
        stack.push_async_callback(redis.aclose)
        bus = await connect_bus(settings, name=process)
        stack.push_async_callback(_close_bus, bus)
        yield _build(settings, shards, redis, bus)


def _build(settings: Settings, shards: Shards, redis: Redis, bus: Client) -> Rooms:
    names = Names(settings.namespace)

    async def poke(server: str) -> None:
        with contextlib.suppress(BusError):  # the relay's poll finds the row when the poke is lost
            await bus.publish(names.poke(server))

    events = Outbox(poke)
    cache, limiter = Cache(redis, settings.namespace), Limiter(redis, settings.namespace)
    people = Accounts(shards, events, cache, limiter)
    follows = Graph(shards, events, people, limiter)
    sight = Sight(people, follows)
    files = open_store(settings)
    library = MediaLibrary(shards, files)
    desk = Desk(
        shards=shards,
        outbox=events,
        accounts=people,
        graph=follows,
        sight=sight,
        cache=cache,
        likes=HotCounts(redis, settings.namespace, "post", hot_per_s=settings.hot_likes_per_s),
        media=library,
        rules=Rules(settings.posts_per_day, settings.keep_deleted_posts_days),
    )
    shared = Posts(desk)
    said = Comments(shards, events, sight, shared, names=posts.Names(people, cache), limiter=limiter)
    kept = Saves(shards, shared)
    finding = Search(shards, sight, follows, shared, limiter)
    return Rooms(
        settings=settings,
        shards=shards,
        redis=redis,
        bus=bus,
        cache=cache,
        limiter=limiter,
        accounts=people,
        graph=follows,
        sight=sight,
        circles=Circles(shards, people, follows, sight),
        suggestions=Suggestions(shards, sight),
        media=library,
        posts=shared,
        profiles=Profiles(desk, shared),
        comments=said,
        saves=kept,
        feed=Feed(Timelines(redis, settings.namespace), follows, shared),
        notifications=Notifications(shards, events, sight, posts=shared, comments=said, settings=settings),
        search=finding,
        moderation=Moderation(shards, events, sight, accounts=people, posts=shared, comments=said),
        departures=Departures(
            shards,
            events,
            people,
            # In this order: posts before the media they show.
            {
                "posts": shared,
                "comments": said,
                "saves": kept,
                "graph": follows,
                "search": finding,
                "media": MediaBelongings(shards, files),
            },
            last=people,
            store=files,
            limiter=limiter,
            work_folder=settings.home / "exports",
            grace_days=settings.departure_grace_days,
        ),
    )


def open_store(settings: Settings) -> ObjectStore:
    """The place media live in: a directory by default, any object store by its URL."""
    if "://" in settings.media_store:
        return from_url(settings.media_store)
    return LocalStore(settings.media_store or settings.home / "media", mkdir=True)


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
