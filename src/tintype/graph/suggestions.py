"""Suggestions of people to follow: friends of friends first, then popular accounts."""

from collections import Counter
from dataclasses import dataclass

from shardwright.routing import Shards
from tintype.accounts import Accounts
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Schedule
from tintype.base.log import get_log
from tintype.graph.relations import VisibleAccount
from tintype.graph.store import POPULAR_KEY, QUERIES
from tintype.graph.visibility import Visibility

FRIENDS = 50
FRIENDS_EACH = 50
"""The newest followees of the newest followees: at most 2,500 ids, in one round trip per server."""
MAX_CANDIDATES = 150
MAX_POPULAR = 100
log = get_log("graph")


@dataclass(frozen=True)
class Suggestion:
    """Somebody to follow, and how many of the viewer's followees already do."""

    person: VisibleAccount
    followed_by: int


class Suggestions:
    """Never suggests oneself, nor anybody followed, requested, dismissed or hidden."""

    def __init__(self, shards: Shards, accounts: Accounts, visibility: Visibility) -> None:
        self._shards, self._accounts, self._visibility = shards, accounts, visibility

    async def list(self, viewer: AccountId, *, limit: int) -> "list[Suggestion]":
        """People the viewer might want to follow, best first."""
        counts = await self._count_friends_of_friends(viewer)
        candidates = [each for each, _ in counts.most_common(MAX_CANDIDATES)]
        found = await self._suggest(viewer, candidates, counts)
        if len(found) < limit:
            rows = await self._shards.of(POPULAR_KEY).fetch(QUERIES.list_popular)
            popular = [AccountId(row["account_id"]) for row in rows]
            found += await self._suggest(viewer, [each for each in popular if each not in counts], counts)
        return found[:limit]

    async def rank_popular(self) -> None:
        """Rebuild the ranking of the most followed accounts; while a server is unavailable the old one stays."""
        best = await self._accounts.list_most_followed(MAX_POPULAR)
        await self._shards.of(POPULAR_KEY).execute(
            QUERIES.replace_popular, ids=[each for each, _ in best], counts=[count for _, count in best]
        )
        log.info("popular.ranked", count=len(best))

    def schedules(self) -> "list[Schedule]":
        """The periodic rebuild of the ranking."""
        return [Schedule("graph-rank-popular", 1800, self.rank_popular)]

    async def _count_friends_of_friends(self, viewer: AccountId) -> Counter[AccountId]:
        rows = await self._shards.owner(viewer).fetch(
            QUERIES.newest_followees, account_id=viewer, before=LARGEST_ID, limit=FRIENDS
        )
        friends = [AccountId(row["id"]) for row in rows]
        gathered = await self._shards.gather(QUERIES.gather_followees, friends, limit_each=FRIENDS_EACH)
        counts = Counter(AccountId(row["followee_id"]) for row in gathered)  # fewer when a server is away
        for known in (viewer, *friends):
            counts.pop(known, None)
        return counts

    async def _suggest(
        self, viewer: AccountId, candidates: "list[AccountId]", counts: Counter[AccountId]
    ) -> "list[Suggestion]":
        if not candidates:
            return []
        visible = await self._visibility.find_accounts(viewer, candidates)
        rows = await self._shards.owner(viewer).fetch(
            QUERIES.which_dismissed, account_id=viewer, candidates=candidates
        )
        dismissed = {row["target_id"] for row in rows}
        return [
            Suggestion(visible[each], counts[each])
            for each in candidates
            if each in visible and each not in dismissed and _is_new(visible[each])
        ]


def _is_new(person: VisibleAccount) -> bool:
    relation = person.relation
    return not (relation.is_self or relation.follows or relation.has_requested)
