"""Presence: who is active now or was lately, for those who may know.

Two people see each other's presence when they follow each other, or write to each other (a thread of the two that both
have accepted), no block stands between them, and both show theirs: who hides it sees nobody's.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from shardwright.routing import Shards
from tintype.base.ids import AccountId, has_shard
from tintype.base.shard_groups import gather_rows
from tintype.graph import Visibility
from tintype.realtime.activity import INACTIVE, Activity, ActivityLog
from tintype.realtime.store import QUERIES

FindAcquaintances = Callable[[AccountId, Iterable[AccountId]], Awaitable[set[AccountId]]]
"""Those of the accounts that somebody knows otherwise than by following them."""


async def _nobody(_account_id: AccountId, _others: Iterable[AccountId]) -> set[AccountId]:
    return set()


class Presence:
    """Answers who of some people is active, as far as the viewer may know."""

    def __init__(self, shards: Shards, visibility: Visibility, activity: ActivityLog) -> None:
        self._shards, self._visibility, self._activity = shards, visibility, activity
        self.find_acquaintances: FindAcquaintances = _nobody
        """Set by `wiring.py`: the direct room knows who writes to whom."""

    async def find_many(self, viewer: AccountId, ids: Iterable[AccountId]) -> Mapping[AccountId, Activity]:
        """The activity of those of the accounts whose presence the viewer may see."""
        wanted = {each for each in ids if has_shard(self._shards, each)} - {viewer}
        if not wanted or not await self.is_shown(viewer):
            return {}
        shown = wanted - await self._hidden(wanted)
        people = await self._visibility.find_accounts(viewer, shown)
        mutual = {
            each for each, one in people.items() if one.relation.follows and one.relation.follows_viewer
        }
        known = await self.find_acquaintances(viewer, people.keys() - mutual)
        allowed = [each for each in people if each in mutual or each in known]
        found = await self._activity.find_many(allowed)
        return {each: found.get(each, INACTIVE) for each in allowed}

    async def is_shown(self, account_id: AccountId) -> bool:
        """Whether somebody shows their presence."""
        home = self._shards.owner(account_id)
        row = await home.fetch_one(QUERIES.find_choice, account_id=account_id)
        return row is None or bool(row["is_shown"])

    async def choose(self, account_id: AccountId, *, is_shown: bool) -> None:
        """Show or hide somebody's presence."""
        home = self._shards.owner(account_id)
        await home.execute(QUERIES.choose_presence, account_id=account_id, is_shown=is_shown)

    async def _hidden(self, ids: Iterable[AccountId]) -> set[AccountId]:
        rows = await gather_rows(self._shards, QUERIES.list_hidden, list(ids))
        return {AccountId(row["account_id"]) for row in rows}
