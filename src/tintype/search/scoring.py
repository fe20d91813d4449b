"""Keeps the best posts of each topic in order, and its page from growing without end.

Likes come too often to move a row on another shard each time. At intervals the newest and the best posts of every topic
that has changed are looked at again; what is gone since leaves the page here too, whatever event was lost.
"""

from datetime import datetime

from shardwright.running import Shards
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.search.filing import QUERIES
from tintype.search.topics import Recount, Topics

EVERY_S = 300.0
TOPICS_EACH = 200
"""How many topics of one shard are looked at in one run."""
MOST_LISTED = 10_000
"""A page goes back this far; older posts stay counted, and stay listed while they are among the best."""
NEWEST, BEST = 500, 500
log = get_log("search")


class Scoring:
    """Scores and trims topics."""

    def __init__(
        self, shards: Shards, topics: Topics, recount: Recount, *, most_listed: int = MOST_LISTED
    ) -> None:
        self._shards, self._topics, self._recount, self._most_listed = shards, topics, recount, most_listed

    def schedules(self) -> list[Schedule]:
        """Every five minutes, in one worker."""
        return [Schedule("search-scores", EVERY_S, self.score_due)]

    async def score_due(self) -> None:
        """Topics that changed since their last turn have their posts in order."""
        due = await self._shards.everywhere().fetch(QUERIES.topics_due, limit=TOPICS_EACH)
        for row in due:
            await self.score(row["topic"], row["changed_at"])
        if due.rows:
            log.info("topics.scored", count=len(due))

    async def score(self, topic: str, changed_at: datetime) -> None:
        """One topic is in order, trimmed, and known by its present count."""
        shard = self._shards.of(topic)
        rows = await shard.fetch(QUERIES.posts_to_score, topic=topic, newest=NEWEST, best=BEST)
        authors = {PostId(row["post_id"]): AccountId(row["author_id"]) for row in rows}
        gathered = await self._shards.gather(QUERIES.gather_scores, list(authors))
        scores = {PostId(row["id"]): row["score"] for row in gathered}
        if scores:
            await shard.execute(
                QUERIES.score_posts, topic=topic, ids=list(scores), scores=list(scores.values())
            )
        if gathered.is_complete:
            for post_id in authors.keys() - scores.keys():
                await self._topics.file(post_id, authors[post_id])
        await self._trim(topic)
        await self._recount(topic)
        await shard.execute(QUERIES.note_scored, topic=topic, changed_at=changed_at)

    async def _trim(self, topic: str) -> None:
        shard = self._shards.of(topic)
        oldest = await shard.fetch_value(QUERIES.find_trim, topic=topic, kept=self._most_listed)
        if oldest is not None:
            async with shard.begin() as tx:
                await tx.fetch_one(QUERIES.lock_topic, topic=topic)
                await tx.execute(QUERIES.trim_topic, topic=topic, trimmed_id=oldest, best=BEST)
