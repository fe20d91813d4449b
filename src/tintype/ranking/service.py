"""Ranking as other rooms use it: orders posts, explains the order, and records what viewers do."""

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from redis.asyncio import Redis
from redis.exceptions import RedisError

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.background_tasks import BackgroundTasks
from tintype.base.errors import SettingsInvalid
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.personal_data import PersonalDataHolder
from tintype.base.settings import Settings
from tintype.graph import Visibility
from tintype.posts import Post, Posts
from tintype.ranking.activity import ActivityRecorder
from tintype.ranking.event_handlers import RankingEventHandlers
from tintype.ranking.experiments import Experiments
from tintype.ranking.explain import explain
from tintype.ranking.explore import Explore, ExploreCursor
from tintype.ranking.feature_store import PostFeatures, PostFeatureStore
from tintype.ranking.feature_writer import FeatureWriter
from tintype.ranking.features import NO_FEATURES, ViewerFeatures
from tintype.ranking.keys import Keys
from tintype.ranking.models import Explanation, Impression, RankedPost
from tintype.ranking.personal_data import RankingPersonalData
from tintype.ranking.popular_posts import PopularPosts
from tintype.ranking.row_layouts import Floats
from tintype.ranking.score_order import Positions
from tintype.ranking.scoring import PostScorer
from tintype.ranking.training_examples import TrainingExample, TrainingExamples, pack_served
from tintype.ranking.weights import Weights, load_weights
from tintype.redis.client import RedisClient
from tintype.redis.client_cache import Region
from tintype.redis.rate_limits import RateLimiter
from tintype.redis.tracked_read import TrackedRead

FEED_ORDER = "feed-order"
SWEEP_EVERY_S = 3_600.0
MAX_CACHED = 5_000


class Ranking:
    """Ranks posts for viewers, and learns from what they do."""

    def __init__(
        self,
        redis_client: RedisClient,
        redis: Redis,
        shards: Shards,
        *,
        accounts: Accounts,
        posts: Posts,
        visibility: Visibility,
        limiter: RateLimiter,
        settings: Settings,
    ) -> None:
        self._redis_client, self._keys = redis_client, Keys(settings.namespace)
        keys, layout = self._keys, shards.map.layout
        self._background_tasks = BackgroundTasks()
        first, *others = keys.viewer_feature_prefixes
        self._viewers: Region[int, ViewerFeatures] = redis_client.client_cache.region(
            first, int, MAX_CACHED, *others
        )
        self.experiments = Experiments.load(settings.experiments)
        weights = load_weights(settings.ranking_weights)
        _check_variants(self.experiments, weights)
        self._scorers = {name: PostScorer(each, layout.epoch_ms) for name, each in weights.items()}
        self._scorer_numbers = {name: number for number, name in enumerate(self._scorers)}
        self.training_examples = TrainingExamples(
            shards, redis_client, keys, share=settings.training_share, days=settings.training_days
        )
        writer = FeatureWriter(redis, redis_client, keys, weights[""], layout)
        self.feature_store = PostFeatureStore(
            redis_client,
            keys,
            posts,
            writer,
            background_tasks=self._background_tasks,
            builders=[each.features for each in self._scorers.values()],
        )
        half_life_s = weights[""].velocity.half_life_s
        popular = PopularPosts(redis_client, keys, posts, layout=layout, half_life_s=half_life_s)
        self._event_handlers = RankingEventHandlers(
            accounts, posts, writer, self.feature_store, popular=popular, examples=self.training_examples
        )
        self.activity = ActivityRecorder(
            posts,
            writer,
            limiter,
            event_handlers=self._event_handlers,
            examples=self.training_examples,
            background_tasks=self._background_tasks,
        )
        self.explore = Explore(self, redis_client, keys, popular=popular, posts=posts, visibility=visibility)
        self.personal_data: PersonalDataHolder = RankingPersonalData(shards, redis_client, keys)

    def add_to_read(self, viewer: AccountId, read: TrackedRead) -> None:
        """Add the commands for the viewer's features to the caller's read, unless they are cached; see `from_read`."""
        if viewer not in self._viewers.values:
            read.add_group(self._viewers, viewer, self._keys.viewer_features_command(viewer))

    async def from_read(self, viewer: AccountId, read: TrackedRead) -> ViewerFeatures:
        """The viewer's features after the read; if they were cached before it and invalidated by now, read again."""
        replies = read.group_replies(self._viewers, viewer)
        if replies is None:
            return self._viewers.values.get(viewer) or await self.get_viewer_features(viewer)
        features = ViewerFeatures.parse(replies[0])
        read.store(self._viewers, viewer, features)
        return features

    async def get_viewer_features(self, viewer: AccountId) -> ViewerFeatures:
        """The viewer's features as they are in Redis now; `NO_FEATURES` while Redis is away."""
        try:
            command = self._keys.viewer_features_command(viewer)
            return ViewerFeatures.parse((await self._redis_client.execute(command))[0])
        except (RedisError, OSError):
            return NO_FEATURES

    async def rank(
        self,
        viewer: AccountId | None,
        candidates: Sequence[PostId],
        viewer_features: ViewerFeatures = NO_FEATURES,
    ) -> list[RankedPost]:
        """The candidates with their scores, best first."""
        ids = sorted(candidates, reverse=True)
        if not ids:
            return []
        posts, rows, final = await self._arrange(viewer, ids, viewer_features)
        authors = cast("list[AccountId]", posts.authors[rows].tolist())
        ordered = map(ids.__getitem__, rows.tolist())
        known_authors = authors if all(authors) else [each or None for each in authors]
        return list(map(RankedPost, ordered, final.tolist(), known_authors))

    async def order(
        self, viewer: AccountId, candidates: Sequence[PostId], features: ViewerFeatures
    ) -> list[PostId]:
        """The candidates that are not the viewer's own, best first, without their scores."""
        ids = sorted(candidates, reverse=True)
        if not ids:
            return []
        posts, rows, _ = await self._arrange(viewer, ids, features)
        is_own = posts.authors == viewer
        if np.count_nonzero(is_own):
            rows = rows[~is_own[rows]]
        return list(map(ids.__getitem__, rows.tolist()))

    async def find_authors(self, ids: Sequence[PostId]) -> list[AccountId]:
        """Who published each of these posts, by their features; 0 where that is not known."""
        return (
            cast("list[AccountId]", (await self.feature_store.get_rows(ids)).author.tolist()) if ids else []
        )

    async def explain(
        self, viewer: AccountId, post_ids: Sequence[PostId], viewer_features: ViewerFeatures
    ) -> dict[PostId, Explanation]:
        """Why each of these posts is where it is for a viewer with these features."""
        arm, scorer, _ = self._scorer_of(viewer)
        posts = await self.feature_store.get_rows(post_ids)
        scored = scorer.score(np.array(post_ids, np.uint64), posts, viewer_features, time.time())
        return explain(scorer, scored, post_ids, arm=arm)

    async def explain_now(self, viewer: AccountId, post_ids: Sequence[PostId]) -> dict[PostId, Explanation]:
        """`explain` with the viewer's current features; without them while Redis is away."""
        if not post_ids:
            return {}
        return await self.explain(viewer, post_ids, await self.get_viewer_features(viewer))

    async def affinities(self, viewer: AccountId, others: Iterable[AccountId]) -> dict[AccountId, float]:
        """How close the viewer is to each of the others, from 0 to 1; 0 while Redis is away."""
        wanted = list(dict.fromkeys(others))
        features = await self.get_viewer_features(viewer)
        found = self._scorer_of(viewer)[1].features.closeness(
            features.affinity, np.array(wanted, np.uint64), time.time()
        )
        return dict(zip(wanted, found.tolist(), strict=True))

    async def page_explore(
        self, viewer: AccountId | None, *, cursor: ExploreCursor, limit: int
    ) -> tuple[list[Post], ExploreCursor | None]:
        """A page of popular posts of people the viewer does not follow, and where the next page begins."""
        return await self.explore.page(viewer, cursor=cursor, limit=limit)

    async def record_impressions(self, viewer: AccountId, impressions: Sequence[Impression]) -> None:
        """Record posts that were on the viewer's screen: they rank lower from now on. Invisible posts are ignored."""
        await self.activity.record_impressions(viewer, impressions)

    def record_visit(self, viewer: AccountId, author: AccountId) -> None:
        """Record a profile visit in the background; one in ten minutes counts."""
        self.activity.record_visit(viewer, author)

    async def record_message(self, sender: AccountId, recipient: AccountId, message_id: int) -> None:
        """Record a message from one person to another, once per message."""
        await self.activity.record_message(sender, recipient, message_id)

    async def record_story_view(self, viewer: AccountId, author: AccountId, story_id: int) -> None:
        """Record that somebody watched a story, once per story."""
        await self.activity.record_story_view(viewer, author, story_id)

    async def record_share(
        self, viewer: AccountId, post_id: PostId, author: AccountId, message_id: int
    ) -> None:
        """Record that somebody shared a post in a message."""
        await self.activity.record_share(viewer, post_id, author, message_id)

    def experiment_arms(self, viewer: AccountId) -> dict[str, str]:
        """The viewer's arm of every running experiment; empty for those they do not take part in."""
        return self.experiments.arms(viewer)

    def read_training_examples(self) -> AsyncIterator[TrainingExample]:
        """Every complete training example, shard by shard."""
        return self.training_examples.read_all()

    def handlers(self) -> list[Handler]:
        """The event handlers of ranking."""
        return self._event_handlers.handlers()

    def schedules(self) -> list[Schedule]:
        """The schedules of ranking."""
        return [Schedule("ranking-sweep", SWEEP_EVERY_S, self.training_examples.sweep)]

    async def close(self) -> None:
        """Wait for background tasks to end."""
        await self._background_tasks.drain()

    async def _arrange(
        self, viewer: AccountId | None, ids: Sequence[PostId], viewer_features: ViewerFeatures
    ) -> tuple[PostFeatures, Positions, Floats]:
        arm, scorer, number = self._scorer_of(viewer)
        posts = await self.feature_store.get_features(ids, number)
        scored = scorer.score_features(
            scorer.features.add_viewer(
                posts.lasting,
                posts.ids,
                posts.authors,
                posts.tags,
                viewer=viewer_features,
                now_s=time.time(),
            )
        )
        rows, final = scorer.arrange(scored, posts.authors)
        if viewer is not None and self.training_examples.is_sampled(viewer):
            served = pack_served(posts.ids[rows], final, scored.features[rows])
            version = scorer.model.version
            self._background_tasks.start(
                lambda: self.training_examples.store_served(viewer, served, weights=version, arm=arm)
            )
        return posts, rows, final

    def _scorer_of(self, viewer: AccountId | None) -> tuple[str, PostScorer, int]:
        """The arm a viewer is in, its scorer, and the scorer's number among all."""
        arm = self.experiments.arm(FEED_ORDER, viewer) if viewer is not None else ""
        name = self.experiments.weights(FEED_ORDER, arm)
        return arm, self._scorers[name], self._scorer_numbers[name]


def _check_variants(experiments: Experiments, weights: Mapping[str, Weights]) -> None:
    lacking = sorted(experiments.variants() - weights.keys())
    if lacking:
        raise SettingsInvalid(
            f"ranking_weights has no variants {', '.join(lacking)}, which an experiment uses: add them, "
            f"or end the experiment with experiments = ['{FEED_ORDER}=']."
        )
