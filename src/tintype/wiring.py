"""Builds every room once, from settings read once.

Processes differ only in what they do with the rooms: `web` serves them, `worker` runs their handlers.
"""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from shardwright.routing import PoolOptions, Shards
from tintype import accounts as accounts_room
from tintype import comments as comments_room
from tintype import direct as direct_room
from tintype import feed as feed_room
from tintype import graph as graph_room
from tintype import imports as imports_room
from tintype import media as media_room
from tintype import moderation as moderation_room
from tintype import notifications as notifications_room
from tintype import personal_data as personal_data_room
from tintype import posts as posts_room
from tintype import previews as previews_room
from tintype import ranking as ranking_room
from tintype import realtime as realtime_room
from tintype import saves as saves_room
from tintype import search as search_room
from tintype import stories as stories_room
from tintype import sync as sync_room
from tintype.accounts import Accounts, Authentication, Credentials, build_accounts_parts
from tintype.base import store as base_store
from tintype.base.counter_reconciler import CounterReconciler, ReconciledCounter
from tintype.base.errors import SettingsInvalid
from tintype.base.jobs import Handler, Schedule
from tintype.base.nats import NatsNames, connect_nats
from tintype.base.outbox import Outbox
from tintype.base.rate_limits import LimitOverrides
from tintype.base.relay_pokes import RelayPokes
from tintype.base.router_addresses import router_dsns
from tintype.base.settings import Settings, directory_dsn, map_file
from tintype.comments import Comments, CommentsDependencies
from tintype.direct import Direct, DirectDependencies
from tintype.feed import Feed, FollowedTags, Hydrator, ViewerStates
from tintype.graph import Graph, Mentions, PeopleLists, Suggestions, Visibility
from tintype.imports import Imports, ImportsDependencies
from tintype.media import ConversionProgress, MediaLibrary
from tintype.moderation import Moderation, ModerationDependencies
from tintype.notifications import Notifications
from tintype.personal_data import PersonalData, PersonalDataDependencies
from tintype.posts import Posts, PostsDependencies, PostsSettings, ProfileReader
from tintype.previews import Previews, Sitemaps
from tintype.ranking import Ranking
from tintype.realtime import DirectCommands, Realtime, RealtimeDependencies
from tintype.redis.client import MultiplexedRedisClient, PipelinedRedisClient, RedisClient
from tintype.redis.connect import connect_redis
from tintype.redis.hot_counters import HotCounters
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.rate_limits import RateLimiter
from tintype.redis.viewer_invalidation import ViewerInvalidation
from tintype.saves import Saves, SavesDependencies
from tintype.search import Search
from tintype.stories import Stories, StoriesDependencies
from tintype.sync import Sync

QUERIES = (
    base_store.QUERIES,
    accounts_room.QUERIES,
    sync_room.QUERIES,
    graph_room.QUERIES,
    media_room.QUERIES,
    posts_room.QUERIES,
    comments_room.QUERIES,
    saves_room.QUERIES,
    imports_room.QUERIES,
    feed_room.QUERIES,
    notifications_room.QUERIES,
    search_room.QUERIES,
    moderation_room.QUERIES,
    personal_data_room.QUERIES,
    ranking_room.QUERIES,
    stories_room.QUERIES,
    direct_room.QUERIES,
    direct_room.ENCRYPTION_QUERIES,
    previews_room.QUERIES,
    realtime_room.QUERIES,
)

RECONCILE_EVERY_S = 6 * 3_600.0
HOT_BYTES = 8 * 2**20
"""Of prepared statements per connection."""


@dataclass(frozen=True)
class Rooms:
    """All rooms of one process, and the connections they share."""

    settings: Settings
    shards: Shards
    redis: Redis
    nats: Client
    cache: LeasedCache
    limiter: RateLimiter
    accounts: Accounts
    authentication: Authentication
    credentials: Credentials
    sync: Sync
    graph: Graph
    visibility: Visibility
    people_lists: PeopleLists
    suggestions: Suggestions
    media: MediaLibrary
    posts: Posts
    profiles: ProfileReader
    comments: Comments
    saves: Saves
    imports: Imports
    ranking: Ranking
    feed: Feed
    stories: Stories
    direct: Direct
    notifications: Notifications
    search: Search
    previews: Previews
    moderation: Moderation
    realtime: Realtime
    personal_data: PersonalData

    def handlers(self) -> list[Handler]:
        """Everything that reacts to events."""
        return [
            *self.accounts.handlers(),
            *self.authentication.handlers(),
            *self.credentials.handlers(),
            *self.graph.handlers(),
            *self.media.handlers(),
            *self.posts.handlers(),
            *self.ranking.handlers(),
            *self.feed.handlers(),
            *self.stories.handlers(),
            *self.direct.handlers(),
            *self.comments.handlers(),
            *self.imports.handlers(),
            *self.notifications.handlers(),
            *self.search.handlers(),
            *self.moderation.handlers(),
            *self.realtime.handlers(),
            *self.personal_data.handlers(),
        ]

    def schedules(self) -> list[Schedule]:
        """Everything that repeats by the clock."""
        return [
            *self.sync.schedules(),
            *self.graph.schedules(),
            *self.suggestions.schedules(),
            Schedule("counts-reconcile", RECONCILE_EVERY_S, self._reconcile),
            *self.media.schedules(),
            *self.posts.schedules(),
            *self.ranking.schedules(),
            *self.stories.schedules(),
            *self.direct.schedules(),
            *self.accounts.schedules(),
            *self.comments.schedules(),
            *self.imports.schedules(),
            *self.notifications.schedules(),
            *self.search.schedules(),
            *self.moderation.schedules(),
            *self.realtime.schedules(),
            *self.personal_data.schedules(),
        ]

    def services(self) -> list[Callable[[], Awaitable[None]]]:
        """Everything that a worker runs for as long as it runs."""
        return self.realtime.services()

    def reconciled_counters(self) -> list[ReconciledCounter]:
        """Every count that can be compared with the rows it counts."""
        return [
            *self.posts.reconciled_counters(),
            *self.comments.reconciled_counters(),
            *self.graph.reconciled_counters(),
            *self.media.usage.reconciled_counters(),
        ]

    async def _reconcile(self) -> None:
        await CounterReconciler(self.shards, self.reconciled_counters()).run(fix=True)


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
            directory_dsn(settings),
            queries=QUERIES,
            options=pool_options(settings, process),
            dsns=router_dsns(settings),
            registry=registry,
            map_file=map_file(settings),
        )
        stack.push_async_callback(shards.close)
        redis = connect_redis(settings)
        stack.push_async_callback(redis.aclose)
        nats = await connect_nats(settings, name=process)
        stack.push_async_callback(_close_nats, nats)
        redis_client = MultiplexedRedisClient(redis)
        stack.push_async_callback(redis_client.close)
        rooms = build_rooms(settings, shards, redis, nats, redis_client)
        stack.push_async_callback(rooms.realtime.close)
        stack.push_async_callback(rooms.notifications.close)
        stack.push_async_callback(rooms.ranking.close)
        stack.push_async_callback(rooms.stories.close)
        stack.push_async_callback(rooms.media.close)
        yield rooms


def pool_options(settings: Settings, process: str) -> PoolOptions:
    """The router's connections: few and small, since every process has its own."""
    connections = settings.postgres_connections
    return PoolOptions(
        max_connections=connections,
        # The backends of a process cache this times the shards. One is enough, since nobody waits for a connection
        # while they hold one; who waits for a slow statement of somebody else gets a spare one after 50 ms.
        connections_per_group=1,
        spare_connections=settings.postgres_spare_connections or max(1, connections // 4),
        hot_bytes=HOT_BYTES,
        shards_per_connection=256,  # the size of the backend decides, not the number
        gather_connections=settings.postgres_gather_connections or max(1, connections // 8),
        max_backend_bytes=settings.postgres_backend_mb * 2**20,
        idle_s=60.0,
        application_name=f"{settings.namespace} {process}",
    )


def build_rooms(
    settings: Settings, shards: Shards, redis: Redis, nats: Client, redis_client: RedisClient | None = None
) -> Rooms:
    """Build the rooms on connections that the caller has opened, and register their listeners."""
    redis_client = redis_client or PipelinedRedisClient(redis)
    names = NatsNames(settings.namespace)

    async def publish_progress(progress: ConversionProgress) -> None:
        with contextlib.suppress(NatsError):  # best effort: the row says the same
            body = msgspec.json.encode(progress)
            await nats.publish(names.media_progress, body)
            if settings.has_realtime:
                await nats.publish(NatsNames.user(progress.account_id, "media"), body)

    outbox = Outbox(RelayPokes(nats, names).poke)
    cache, limiter = (
        LeasedCache(redis, settings.namespace, redis_client),
        RateLimiter(
            redis, settings.namespace, LimitOverrides(settings.rate_limits), redis_client=redis_client
        ),
    )
    accounts_parts = build_accounts_parts(shards, outbox, cache, limiter, settings=settings)
    accounts, credentials = Accounts(accounts_parts), Credentials(accounts_parts)
    sync = Sync(shards, nats)
    viewer_invalidation = ViewerInvalidation(redis_client, settings.namespace)
    graph = Graph(shards, outbox, accounts, limiter, viewer_invalidation)
    visibility = Visibility(accounts, graph)
    media = MediaLibrary(
        shards, outbox, redis, cache, accounts, settings=settings, publish_progress=publish_progress
    )
    posts_dependencies = PostsDependencies(
        shards=shards,
        outbox=outbox,
        accounts=accounts,
        graph=graph,
        visibility=visibility,
        cache=cache,
        viewer_invalidation=viewer_invalidation,
        like_counters=HotCounters(
            redis,
            settings.namespace,
            "post",
            hot_per_s=settings.hot_likes_per_s,
            redis_client=redis_client,
        ),
        media=media,
        redis_client=redis_client,
        namespace=settings.namespace,
        settings=PostsSettings(settings.posts_per_day, settings.keep_deleted_posts_days),
    )
    posts = Posts(posts_dependencies)
    media.changed.add(posts.invalidate_media)
    comments = Comments(
        CommentsDependencies(
            shards=shards,
            outbox=outbox,
            visibility=visibility,
            posts=posts,
            mentions=Mentions(accounts, visibility),
            limiter=limiter,
        )
    )
    saves = Saves(
        SavesDependencies(
            shards=shards,
            outbox=outbox,
            accounts=accounts,
            posts=posts,
            viewer_invalidation=viewer_invalidation,
        )
    )
    imports = Imports(
        ImportsDependencies(
            shards=shards,
            outbox=outbox,
            accounts=accounts,
            visibility=visibility,
            media=media,
            posts=posts,
            limiter=limiter,
            work_folder=settings.home / "imports",
            max_bytes=settings.import_mb << 20,
        )
    )
    ranking = Ranking(
        redis_client,
        redis,
        shards,
        accounts=accounts,
        posts=posts,
        visibility=visibility,
        limiter=limiter,
        settings=settings,
    )
    feed = Feed(
        shards,
        outbox,
        redis_client,
        graph=graph,
        hydrator=Hydrator(
            shards, cache, posts, accounts, viewer_states=ViewerStates(shards, viewer_invalidation)
        ),
        ranking=ranking,
        namespace=settings.namespace,
        idle_days=settings.feed_idle_days,
        push_followers=settings.feed_push_followers,
        tags=FollowedTags(shards, outbox, limiter, viewer_invalidation),
    )
    posts.published.add(feed.show_own_post)
    graph.followed.add(feed.show_new_followee)
    stories = Stories(
        StoriesDependencies(
            shards=shards,
            outbox=outbox,
            visibility=visibility,
            graph=graph,
            media=media,
            posts=posts,
            ranking=ranking,
            limiter=limiter,
            redis_client=redis_client,
            namespace=settings.namespace,
            stories_per_day=settings.stories_per_day,
        )
    )
    media.changed.add(stories.on_media_changed)
    direct = Direct(
        DirectDependencies(
            shards=shards,
            outbox=outbox,
            accounts=accounts,
            graph=graph,
            visibility=visibility,
            media=media,
            posts=posts,
            stories=stories,
            limiter=limiter,
            sync=sync,
        )
    )
    graph.block_changed.add(direct.on_block_changed)
    notifications = Notifications(
        shards,
        outbox,
        visibility,
        posts=posts,
        comments=comments,
        stories=stories,
        direct=direct,
        settings=settings,
        nats=nats,
    )
    search = Search(shards, visibility, graph, posts, limiter)
    moderation = Moderation(
        ModerationDependencies(
            shards=shards,
            outbox=outbox,
            visibility=visibility,
            accounts=accounts,
            posts=posts,
            comments=comments,
            stories=stories,
            direct=direct,
            notifications=notifications,
            limiter=limiter,
        )
    )
    authentication = Authentication(accounts_parts)
    realtime = Realtime(
        RealtimeDependencies(
            settings=settings,
            shards=shards,
            redis=redis,
            nats=nats,
            accounts=accounts,
            authentication=authentication,
            visibility=visibility,
            posts=posts,
            comments=comments,
            sync=sync,
            limiter=limiter,
        )
    )
    DirectCommands(direct).register(realtime.commands)
    realtime.register_typing(direct.list_typing_members)
    realtime.presence.find_acquaintances = direct.find_acquaintances
    if realtime.is_on:
        notifications.changed.add(realtime.notifications.on_changed)
        feed.reached.add(realtime.feed_hints.on_reached)
        posts.counts_changed.add(realtime.post_signals.on_counts_changed)
        comments.added.add(realtime.post_signals.on_comment_added)
    return Rooms(
        settings=settings,
        shards=shards,
        redis=redis,
        nats=nats,
        cache=cache,
        limiter=limiter,
        accounts=accounts,
        authentication=authentication,
        credentials=credentials,
        sync=sync,
        graph=graph,
        visibility=visibility,
        people_lists=PeopleLists(shards, accounts, graph, visibility),
        suggestions=Suggestions(shards, accounts, visibility),
        media=media,
        posts=posts,
        profiles=ProfileReader(posts_dependencies, posts),
        comments=comments,
        saves=saves,
        imports=imports,
        ranking=ranking,
        feed=feed,
        stories=stories,
        direct=direct,
        notifications=notifications,
        search=search,
        previews=Previews(accounts, visibility, posts, search, Sitemaps(shards)),
        moderation=moderation,
        realtime=realtime,
        personal_data=PersonalData(
            PersonalDataDependencies(
                shards=shards,
                outbox=outbox,
                accounts=accounts,
                credentials=credentials,
                storage=media.storage,
                limiter=limiter,
                work_folder=settings.home / "exports",
                grace_days=settings.departure_grace_days,
            ),
            # In this order: comments before the posts they are under, imports before the posts they add, posts before
            # the media they show.
            {
                "comments": comments.personal_data,
                "saves": saves.personal_data,
                "ranking": ranking.personal_data,
                "direct": direct.personal_data,
                "stories": stories.personal_data,
                "feed": feed.personal_data,
                "imports": imports.personal_data,
                "posts": posts.personal_data,
                "graph": graph.personal_data,
                "search": search.personal_data,
                "notifications": notifications.personal_data,
                "moderation": moderation.personal_data,
                "realtime": realtime.personal_data,
                "sync": sync.personal_data,
                "media": media.personal_data,
            },
            last=accounts.personal_data,
        ),
    )


def _check_engines(settings: Settings) -> None:
    if settings.has_realtime and not (settings.nats_system and settings.mqtt_upstream):
        raise SettingsInvalid(
            "Live connections (realtime) over your own NATS servers need nats_system and mqtt_upstream, and the auth "
            "callout in their configuration: docs/operating.md, Real time."
        )
    for name in ("postgres", "redis", "nats"):
        if not getattr(settings, name):
            raise SettingsInvalid(
                f"No address for {name}. `tintype up` starts embedded servers and tells its processes where they are; "
                f"to run a process by itself, set {name} in tintype.toml or TINTYPE_{name.upper()}."
            )


async def _close_nats(nats: Client) -> None:
    with contextlib.suppress(NatsError):  # nothing left to save on a connection that is already gone
        await nats.close()
