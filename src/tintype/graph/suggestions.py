"""Suggestions of people to follow: the inviter and whom they follow, friends of friends, the popular, whoever posted.

A newcomer follows nobody, so friends of friends are none: the inviter's stand in for them, as far as the newcomer may
see whom the inviter follows.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

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
MAX_NEWCOMERS = 50
Reason = Literal["inviter", "followed_by_inviter", "mutuals", "popular", "new"]
"""Why somebody is suggested."""
log = get_log("graph")


@dataclass(frozen=True)
class Suggestion:
    """Somebody to follow, and how many of the viewer's followees already do."""

    person: VisibleAccount
    followed_by: int
    reason: Reason


class Suggestions:
    """Never suggests oneself, nor anybody followed, requested, dismissed or hidden."""

    def __init__(self, shards: Shards, accounts: Accounts, visibility: Visibility) -> None:
        self._shards, self._accounts, self._visibility = shards, accounts, visibility

    async def list(self, viewer: AccountId, *, limit: int) -> "list[Suggestion]":
        """People the viewer might want to follow, best first."""
        counts = await self._count_friends_of_friends(viewer)
        found = await self._suggest_by_inviter(viewer, counts)
        candidates = [each for each, _ in counts.most_common(MAX_CANDIDATES)]
        found += await self._suggest(viewer, _others(candidates, found), counts, "mutuals")
        if len(found) < limit:
            rows = await self._shards.of(POPULAR_KEY).fetch(QUERIES.list_popular)
            popular = [AccountId(row["account_id"]) for row in rows]
            found += await self._suggest(viewer, _others(popular, found), counts, "popular")
        if len(found) < limit:
            found += await self._suggest_newcomers(viewer, found)
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

    async def _suggest_by_inviter(self, viewer: AccountId, counts: Counter[AccountId]) -> "list[Suggestion]":
        """The person whose link the viewer joined by, until they are followed, and some of whom that person follows."""
        inviter = await self._accounts.invitations.find_inviter(viewer)
        if inviter is None:
            return []
        seen = (await self._visibility.find_accounts(viewer, [inviter])).get(inviter)
        if seen is None:
            return []
        found = await self._suggest(viewer, [inviter], counts, "inviter")
        if seen.shows_content:
            rows = await self._shards.owner(inviter).fetch(
                QUERIES.newest_followees, account_id=inviter, before=LARGEST_ID, limit=FRIENDS_EACH
            )
            candidates = [AccountId(row["id"]) for row in rows]
            found += await self._suggest(viewer, candidates, counts, "followed_by_inviter")
        return found

    async def _suggest_newcomers(self, viewer: AccountId, known: "list[Suggestion]") -> "list[Suggestion]":
        """The newest public accounts with posts: on a young site nobody is popular, or the ranking is not made yet.

        This reads every shard; a site with enough popular accounts to suggest never comes here.
        """
        newest = await self._accounts.list_newest(role=None, limit=MAX_NEWCOMERS)
        candidates = [each.id for each in newest if each.post_count and not each.is_private]
        return await self._suggest(viewer, _others(candidates, known), Counter(), "new")

    async def _suggest(
        self,
        viewer: AccountId,
        candidates: "list[AccountId]",
        counts: Counter[AccountId],
        reason: Reason,
    ) -> "list[Suggestion]":
        if not candidates:
            return []
        visible = await self._visibility.find_accounts(viewer, candidates)
        rows = await self._shards.owner(viewer).fetch(
            QUERIES.which_dismissed, account_id=viewer, candidates=candidates
        )
        dismissed = {row["target_id"] for row in rows}
        return [
            Suggestion(visible[each], counts[each], reason)
            for each in candidates
            if each in visible and each not in dismissed and _is_new(visible[each])
        ]


def _others(candidates: "list[AccountId]", known: "list[Suggestion]") -> "list[AccountId]":
    """The candidates who are not suggested already."""
    ids = {each.person.account.id for each in known}
    return [each for each in candidates if each not in ids]


def _is_new(person: VisibleAccount) -> bool:
    relation = person.relation
    return not (relation.is_self or relation.follows or relation.has_requested)
