"""Records what viewers do besides liking and saving: impressions, profile visits, messages, stories watched."""

import time
from collections.abc import Sequence

from redis.exceptions import RedisError

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.base.log import get_log
from tintype.base.rate_limits import IMPRESSIONS
from tintype.posts import Posts
from tintype.ranking.event_handlers import RankingEventHandlers
from tintype.ranking.feature_writer import FeatureWriter
from tintype.ranking.models import LINGER_MS, Impression, Interaction, InteractionKind
from tintype.ranking.training_examples import TrainingExamples
from tintype.redis.rate_limits import RateLimiter

log = get_log("ranking")
MAX_SPENT_MS = 600_000
"""A post that is on screen for longer was left open."""
MAX_LINGERED = 20
"""Between two reports nobody lingers on more posts than this."""
VISIT_EVERY_S = 600
MAX_VISITS = 10_000


class ActivityRecorder:
    """Records activity of viewers. It may be lost while Redis is away: the viewer gets no error."""

    def __init__(
        self,
        posts: Posts,
        writer: FeatureWriter,
        limiter: RateLimiter,
        *,
        event_handlers: RankingEventHandlers,
        examples: TrainingExamples,
        background_tasks: BackgroundTasks,
    ) -> None:
        self._posts, self._writer, self._limiter = posts, writer, limiter
        self._event_handlers, self._examples = event_handlers, examples
        self._background_tasks = background_tasks
        self._visits: BoundedMap[tuple[AccountId, AccountId], int] = BoundedMap(MAX_VISITS)

    async def record_impressions(self, viewer: AccountId, impressions: Sequence[Impression]) -> None:
        """Record posts that were on the viewer's screen: they rank lower from now on. Own posts do not."""
        await self._limiter.acquire(IMPRESSIONS, viewer)
        longest: dict[PostId, int] = {}
        for each in impressions:
            spent_ms = min(each.spent_ms, MAX_SPENT_MS)
            longest[each.post_id] = max(longest.get(each.post_id, 0), spent_ms)
        found = await self._posts.find_many(longest, viewer=viewer)
        spent = {
            post_id: spent_ms
            for post_id, spent_ms in longest.items()
            if post_id in found and found[post_id].author_id != viewer
        }
        try:
            await self._writer.record_seen(viewer, list(spent))
            lingered = [post_id for post_id, spent_ms in spent.items() if spent_ms > LINGER_MS]
            for post_id in lingered[:MAX_LINGERED]:
                await self._record_linger(viewer, post_id, found[post_id].author_id)
            await self._examples.record_impressions(viewer, spent)
        except (RedisError, OSError) as error:
            log.warning("impressions.lost", error=str(error))

    def record_visit(self, viewer: AccountId, author: AccountId) -> None:
        """Record a profile visit in the background; one in ten minutes counts."""
        bucket = int(time.time()) // VISIT_EVERY_S
        if viewer == author or self._visits.get((viewer, author)) == bucket:
            return
        self._visits[viewer, author] = bucket
        visit = Interaction(
            viewer_id=viewer,
            kind="visit",
            object_id=author * 1_000_003 + bucket,
            change_id=self._writer.change_id_at(bucket * VISIT_EVERY_S),
            author_id=author,
        )
        self._background_tasks.start(lambda: self._event_handlers.record(visit))

    async def record_message(self, sender: AccountId, recipient: AccountId, message_id: int) -> None:
        """Record a message from one person to another, once per message."""
        await self._event_handlers.record(_towards(sender, recipient, "message", message_id))

    async def record_story_view(self, viewer: AccountId, author: AccountId, story_id: int) -> None:
        """Record that somebody watched a story, once per story."""
        await self._event_handlers.record(_towards(viewer, author, "story_view", story_id))

    async def record_share(
        self, viewer: AccountId, post_id: PostId, author: AccountId, message_id: int
    ) -> None:
        """Record that somebody shared a post in a message."""
        share = Interaction(
            viewer_id=viewer,
            kind="share",
            object_id=message_id,
            change_id=message_id,
            author_id=author,
            post_id=post_id,
        )
        await self._event_handlers.record(share)

    async def _record_linger(self, viewer: AccountId, post_id: PostId, author: AccountId) -> None:
        linger = Interaction(
            viewer_id=viewer,
            kind="linger",
            object_id=post_id,
            change_id=self._writer.change_id_at(int(time.time())),
            author_id=author,
            post_id=post_id,
        )
        await self._event_handlers.record(linger)


def _towards(viewer: AccountId, author: AccountId, kind: InteractionKind, number: int) -> Interaction:
    return Interaction(viewer_id=viewer, kind=kind, object_id=number, change_id=number, author_id=author)
