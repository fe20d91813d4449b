"""Scores the posts of each topic by likes and comments, and trims topics that have grown too long.

Likes come too often to update a row on another shard each time. At intervals the newest and the best posts of every
topic that has changed are scored again; posts that are no longer public leave the topic here, too, even if an event was
lost.
"""

from datetime import datetime

from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.search.dependencies import SearchDependencies
from tintype.search.public_posts import is_public_post
from tintype.search.store import QUERIES
from tintype.search.topics import OnCountChanged, Topics

EVERY_S = 300.0
TOPICS_EACH = 200
"""How many topics of one shard are scored in one run."""
MAX_LISTED = 10_000
"""A topic lists this many posts; older ones stay counted, and stay listed while they are among the best."""
NEWEST, BEST = 500, 500
log = get_log("search")


class TopicScoring:
    """Scores and trims topics."""

    def __init__(self, deps: SearchDependencies, topics: Topics, on_count_changed: OnCountChanged) -> None:
        self._shards, self._topics, self._on_count_changed = deps.shards, topics, on_count_changed

    def schedules(self) -> list[Schedule]:
        """Score every five minutes, in one worker."""
        return [Schedule("search-scores", EVERY_S, self.score_due)]

    async def score_due(self) -> None:
        """Score the topics that have changed since they were last scored."""
        due = await self._shards.everywhere().fetch(QUERIES.topics_due, limit=TOPICS_EACH)
        for row in due:
            await self.score(row["topic"], row["changed_at"])
        if due.rows:
            log.info("topics.scored", count=len(due))

    async def score(self, topic: str, changed_at: datetime) -> None:
        """Score and trim one topic, and index its name with its current count."""
        shard = self._shards.of(topic)
        rows = await shard.fetch(QUERIES.posts_to_score, topic=topic, newest=NEWEST, best=BEST)
        authors = {PostId(row["post_id"]): AccountId(row["author_id"]) for row in rows}
        gathered = await self._shards.gather(QUERIES.gather_scores, list(authors))
        scores = {PostId(row["id"]): row["score"] for row in gathered if is_public_post(row)}
        if scores:
            await shard.execute(
                QUERIES.score_posts, topic=topic, ids=list(scores), scores=list(scores.values())
            )
        if gathered.is_complete:
            for post_id in authors.keys() - scores.keys():
                await self._topics.index(post_id, authors[post_id])
        await self._trim(topic)
        await self._on_count_changed(topic)
        await shard.execute(QUERIES.mark_scored, topic=topic, changed_at=changed_at)

    async def _trim(self, topic: str) -> None:
        shard = self._shards.of(topic)
        trimmed_at = await shard.fetch_value(QUERIES.find_trim, topic=topic, kept=MAX_LISTED)
        if trimmed_at is not None:
            async with shard.begin() as tx:
                await tx.fetch_one(QUERIES.lock_topic, topic=topic)
                await tx.execute(QUERIES.trim_topic, topic=topic, trimmed_at=trimmed_at, best=BEST)
