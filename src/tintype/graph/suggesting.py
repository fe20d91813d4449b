"""Whom one might want to follow: friends of friends first, then those whom many follow."""

from collections import Counter
from dataclasses import dataclass

from shardwright.running import Shards
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.graph.relations import Seen
from tintype.graph.sight import Sight
from tintype.graph.store import POPULAR_KEY, QUERIES

FRIENDS = 50
FRIENDS_EACH = 50
"""The newest followees of the newest followees: at most 2,500 ids, in one round trip per server."""
CANDIDATES = 150
POPULAR_KEPT = 100
log = get_log("graph")


@dataclass(frozen=True)
class Suggestion:
    """Somebody to follow, and how many of the viewer's followees already do."""

    seen: Seen
    followed_by: int


class Suggestions:
    """Never oneself, nor anybody followed, asked, dismissed or hidden."""

    def __init__(self, shards: Shards, sight: Sight) -> None:
        self._shards, self._sight = shards, sight

    async def read(self, viewer: AccountId, *, limit: int) -> list[Suggestion]:
        """The best first."""
        tally = await self._friends_of_friends(viewer)
        candidates = [each for each, _ in tally.most_common(CANDIDATES)]
        found = await self._keep(viewer, candidates, tally)
        if len(found) < limit:
            rows = await self._shards.of(POPULAR_KEY).fetch(QUERIES.list_popular)
            popular = [AccountId(row["account_id"]) for row in rows]
            found += await self._keep(viewer, [each for each in popular if each not in tally], tally)
        return found[:limit]

    async def rank(self) -> None:
        """Count anew who is followed most; when a server is away the old ranking stays."""
        gathered = await self._shards.everywhere(deadline_s=60).fetch(
            QUERIES.most_followed, limit=POPULAR_KEPT
        )
        best = sorted(gathered.complete(), key=lambda row: (-row["follower_count"], row["id"]))[:POPULAR_KEPT]
        await self._shards.of(POPULAR_KEY).execute(
            QUERIES.rank_popular,
            ids=[row["id"] for row in best],
            counts=[row["follower_count"] for row in best],
        )
        log.info("popular.ranked", count=len(best))

    def schedules(self) -> list[Schedule]:
        """What is repeated by the clock."""
        return [Schedule("graph-rank-popular", 1800, self.rank)]

    async def _friends_of_friends(self, viewer: AccountId) -> Counter[AccountId]:
        rows = await self._shards.owner(viewer).fetch(
            QUERIES.newest_followees, account_id=viewer, before=LARGEST_ID, limit=FRIENDS
        )
        friends = [AccountId(row["id"]) for row in rows]
        gathered = await self._shards.gather(QUERIES.gather_followees, friends, limit_each=FRIENDS_EACH)
        tally = Counter(AccountId(row["followee_id"]) for row in gathered)  # fewer when a server is away
        for known in (viewer, *friends):
            tally.pop(known, None)
        return tally

    async def _keep(
        self, viewer: AccountId, candidates: list[AccountId], tally: Counter[AccountId]
    ) -> list[Suggestion]:
        if not candidates:
            return []
        seen = await self._sight.of(viewer, candidates)
        rows = await self._shards.owner(viewer).fetch(
            QUERIES.which_dismissed, account_id=viewer, candidates=candidates
        )
        dismissed = {row["target_id"] for row in rows}
        return [
            Suggestion(seen[each], tally[each])
            for each in candidates
            if each in seen and each not in dismissed and _is_new(seen[each])
        ]


def _is_new(seen: Seen) -> bool:
    relation = seen.relation
    return not (relation.is_self or relation.follows or relation.has_requested)
