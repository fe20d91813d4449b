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
from tintype import (
    accounts,
    belongings,
    comments,
    feed,
    graph,
    media,
    moderation,
    notifications,
    posts,
    ranking,
    saves,
    search,
    stories,
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
from tintype.base.ties import Ties
from tintype.base.wire import PipelinedWire, SharedWire, Wire
from tintype.belongings import Departures
from tintype.comments import Comments
from tintype.feed import Feed, Stances, Visible
from tintype.graph import Circles, Graph, Sight, Suggestions, graph_tallies
from tintype.media import MediaBelongings, MediaLibrary, MediaRoom, Progress, build_media
from tintype.moderation import Moderation
from tintype.notifications import Notifications
from tintype.posts import Desk, Posts, Profiles, Rules
from tintype.ranking import Ranking
from tintype.saves import Saves
from tintype.search import Search
from tintype.stories import Stories

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
    feed.QUERIES,
    notifications.QUERIES,
    search.QUERIES,
    moderation.QUERIES,
    belongings.QUERIES,
    ranking.QUERIES,
    stories.QUERIES,
    feed.VISIBLE_QUERIES,
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
    media_room: MediaRoom
    posts: Posts
    profiles: Profiles
    comments: Comments
    saves: Saves
    ranking: Ranking
    feed: Feed
    stories: Stories
    notifications: Notifications
    search: Search
    moderation: Moderation
    departures: Departures

    def handlers(self) -> list[Handler]:
        """Everything that reacts to events."""
        return [
            *self.accounts.handlers(),
            *self.graph.handlers(),
            *self.media_room.handlers(),
            *self.posts.handlers(),
            *self.ranking.handlers(),
            *self.feed.handlers(),
            *self.stories.handlers(),
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
            *self.media_room.schedules(),
            *self.posts.schedules(),
            *self.ranking.schedules(),
            *self.stories.schedules(),
            *self.accounts.schedules(),
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

        return [*self.posts.tallies(), *self.comments.tallies(), *graph_tallies(forget)]

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
        wire = SharedWire(redis)
        stack.push_async_callback(wire.close)
        rooms = build_rooms(settings, shards, redis, bus, wire)
        stack.push_async_callback(rooms.notifications.close)
        stack.push_async_callback(rooms.ranking.close)
        stack.push_async_callback(rooms.stories.rings.settle)
        yield rooms


def build_rooms(
    settings: Settings, shards: Shards, redis: Redis, bus: Client, wire: Wire | None = None
) -> Rooms:
    """The rooms on connections that somebody else opened."""
    wire = wire or PipelinedWire(redis)
    names = Names(settings.namespace)

    async def poke(server: str) -> None:
        with contextlib.suppress(BusError):  # the relay's poll finds the row when the poke is lost
            await bus.publish(names.poke(server))

    async def tell_progress(progress: Progress) -> None:
        with contextlib.suppress(BusError):  # news for those who watch; the row says the same
            await bus.publish(names.media_progress, msgspec.json.encode(progress))

    events = Outbox(poke)
    cache, limiter = Cache(redis, settings.namespace, wire), Limiter(redis, settings.namespace)
    people = Accounts(shards, events, cache, limiter, settings=settings)
    ties = Ties(wire, settings.namespace)
    follows = Graph(shards, events, people, limiter, ties)
    sight = Sight(people, follows)
    pictures = build_media(settings, shards, redis, events, tell=tell_progress)
    desk = Desk(
        shards=shards,
        outbox=events,
        accounts=people,
        graph=follows,
        sight=sight,
        cache=cache,
        ties=ties,
        likes=HotCounts(redis, settings.namespace, "post", hot_per_s=settings.hot_likes_per_s),
        media=pictures.library,
        rules=Rules(settings.posts_per_day, settings.keep_deleted_posts_days),
    )
    shared = Posts(desk)
    pictures.library.listen(shared.forget_pictures)
    said = Comments(shards, events, sight, shared, names=posts.Names(people, cache), limiter=limiter)
    kept = Saves(shards, events, shared, ties)
    ordering = Ranking(
        wire,
        redis,
        shards,
        accounts=people,
        posts=shared,
        sight=sight,
        limiter=limiter,
        settings=settings,
    )
    home = Feed(
        shards,
        events,
        wire,
        graph=follows,
        posts=shared,
        visible=Visible(shards, cache, shared, people, stances=Stances(shards, ties)),
        ranking=ordering,
        namespace=settings.namespace,
        idle_days=settings.feed_idle_days,
        push_followers=settings.feed_push_followers,
    )
    shown = Stories(
        shards,
        events,
        sight,
        graph=follows,
        media=pictures.library,
        ranking=ordering,
        limiter=limiter,
        wire=wire,
        namespace=settings.namespace,
        stories_per_day=settings.stories_per_day,
    )
    pictures.library.listen(shown.forget_pictures)
    told = Notifications(
        shards, events, sight, posts=shared, comments=said, stories=shown, settings=settings, bus=bus
    )
    finding = Search(shards, sight, follows, shared, limiter)
    judging = Moderation(
        shards,
        events,
        sight,
        accounts=people,
        posts=shared,
        comments=said,
        stories=shown,
        notifications=told,
        limiter=limiter,
    )
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
        media=pictures.library,
        media_room=pictures,
        posts=shared,
        profiles=Profiles(desk, shared),
        comments=said,
        saves=kept,
        ranking=ordering,
        feed=home,
        stories=shown,
        notifications=told,
        search=finding,
        moderation=judging,
        departures=Departures(
            shards,
            events,
            people,
            # In this order: comments before the posts they are under, posts before the media they show.
            {
                "comments": said,
                "saves": kept,
                "ranking": ordering,
                "stories": shown,
                "feed": home,
                "posts": shared,
                "graph": follows,
                "search": finding,
                "notifications": told,
                "moderation": judging,
                "media": MediaBelongings(shards, pictures.library, pictures.uploads, pictures.later),
            },
            last=people,
            storage=pictures.storage,
            limiter=limiter,
            work_folder=settings.home / "exports",
            grace_days=settings.departure_grace_days,
        ),
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
