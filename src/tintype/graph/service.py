"""The front door of the graph: follow, block, mute; relations between people; and followers for other rooms."""

from collections.abc import AsyncIterator, Iterable, Sequence

import asyncpg

from shardwright.routing import Shards
from tintype.accounts import Accounts, PrivacyChanged
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.listeners import Listeners
from tintype.base.outbox import Outbox
from tintype.base.personal_data import PersonalDataHolder
from tintype.graph.blocks import Blocks
from tintype.graph.counters import reconciled_counters
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.events import BlockChanged, FollowChanged, FollowDecided, FollowRequested, State
from tintype.graph.follow_rows import FollowRows
from tintype.graph.follower_mirror import Change, FollowerMirror
from tintype.graph.follows import MAX_FOLLOWEES, Follows
from tintype.graph.personal_data import GraphPersonalData
from tintype.graph.preferences import Preferences
from tintype.graph.relations import ONESELF, STRANGER, Relation
from tintype.graph.retention import sweep_ended
from tintype.graph.store import QUERIES
from tintype.redis.command_listeners import CommandListeners
from tintype.redis.rate_limits import RateLimiter
from tintype.redis.viewer_invalidation import ViewerInvalidation


class Graph:
    """Follows, blocks and preferences. The shard of whoever acts holds the truth; the other shard mirrors it."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        accounts: Accounts,
        limiter: RateLimiter,
        viewer_invalidation: ViewerInvalidation,
    ) -> None:
        self._shards, self._accounts, self._viewer_invalidation = shards, accounts, viewer_invalidation
        deps = GraphDependencies(
            shards=shards,
            outbox=outbox,
            accounts=accounts,
            follow_rows=FollowRows(accounts),
            limiter=limiter,
            viewer_invalidation=viewer_invalidation,
        )
        self._mirror = FollowerMirror(deps)
        self._follows = Follows(deps, self._mirror)
        self._blocks = Blocks(deps, self._mirror, self._follows)
        self._preferences = Preferences(deps)
        self.personal_data: PersonalDataHolder = GraphPersonalData(deps, self._follows, self._blocks)

    @property
    def followed(self) -> CommandListeners[FollowChanged]:
        """What follows in Redis right after somebody began to follow somebody."""
        return self._mirror.followed

    @property
    def block_changed(self) -> Listeners[BlockChanged]:
        """Called right after somebody blocked or unblocked somebody."""
        return self._blocks.changed

    # Follows.

    async def follow(self, follower: AccountId, followee: AccountId) -> State:
        """Follow somebody, or request it from a private account; returns which. Doing it twice changes nothing."""
        return await self._follows.follow(follower, followee)

    async def unfollow(self, follower: AccountId, followee: AccountId) -> bool:
        """End a follow or withdraw a request; returns whether there was any."""
        return await self._follows.unfollow(follower, followee)

    async def remove_follower(self, followee: AccountId, follower: AccountId) -> bool:
        """End somebody else's follow or request of oneself; returns whether there was any."""
        return await self._follows.remove_follower(followee, follower)

    async def approve(self, followee: AccountId, follower: AccountId) -> None:
        """Approve a request; `RequestNotFound` if it was withdrawn. Approving twice is no error."""
        await self._follows.approve(followee, follower)

    async def decline(self, followee: AccountId, follower: AccountId) -> bool:
        """Decline a request; somebody who follows already keeps following."""
        return await self._follows.decline(followee, follower)

    async def approve_all(self, change: PrivacyChanged) -> None:
        """Approve all requests of an account that became public."""
        await self._follows.approve_all(change)

    async def approve_forgotten(self) -> None:
        """Approve requests of public accounts whose handler of `PrivacyChanged` failed for good."""
        await self._follows.approve_forgotten()

    async def ensure_mirrored(self, changes: Iterable[Change]) -> None:
        """Apply those of the changes to the followee's side that it does not know yet."""
        for change in await self._mirror.find_unmirrored(changes):
            await self._mirror.apply(change)

    # Blocks and preferences.

    async def block(self, blocker: AccountId, blocked: AccountId) -> None:
        """Hide two people from each other and end the follows between them, at once."""
        await self._blocks.block(blocker, blocked)

    async def unblock(self, blocker: AccountId, blocked: AccountId) -> bool:
        """Let two people see each other again; earlier follows do not come back. Returns whether there was a block."""
        return await self._blocks.unblock(blocker, blocked)

    async def mute(
        self, by: AccountId, target: AccountId, *, posts: bool | None = None, stories: bool | None = None
    ) -> None:
        """Mute or unmute somebody's posts or stories; None leaves it as it is."""
        await self._preferences.mute(by, target, posts=posts, stories=stories)

    async def set_close_friend(self, by: AccountId, target: AccountId, *, is_close: bool = True) -> None:
        """Add somebody to the close friends, or remove them."""
        await self._preferences.set_close_friend(by, target, is_close=is_close)

    async def restrict(self, by: AccountId, target: AccountId, *, is_restricted: bool = True) -> None:
        """Show somebody's comments to themselves alone, or to everybody again."""
        await self._preferences.restrict(by, target, is_restricted=is_restricted)

    async def dismiss_suggestion(self, by: AccountId, target: AccountId) -> None:
        """Do not suggest somebody any more."""
        await self._preferences.dismiss_suggestion(by, target)

    # Reads for other rooms.

    async def relations(
        self, viewer: AccountId | None, others: Iterable[AccountId]
    ) -> dict[AccountId, Relation]:
        """A viewer's relations to others, from one query on the viewer's shard; a guest is a stranger to everybody."""
        wanted = set(others) - {viewer}
        found = {viewer: ONESELF} if viewer is not None else {}
        if viewer is not None and wanted:
            rows = await self._shards.owner(viewer).fetch(
                QUERIES.relations, viewer_id=viewer, others=list(wanted)
            )
            found |= {AccountId(row["id"]): _relation(row) for row in rows}
        return found

    async def relation_at(self, target: AccountId, viewer: AccountId | None) -> Relation:
        """A viewer's relation to one account, from the account's shard, for a page that reads that shard alone.

        Mutes, close friends and restrictions are left out: only the viewer's shard knows them.
        """
        if viewer is None or viewer == target:
            return STRANGER if viewer is None else ONESELF
        row = await self._shards.owner(target).fetch_one(
            QUERIES.relation_at, target_id=target, viewer_id=viewer
        )
        return _relation(row) if row else STRANGER

    async def which_followed(self, by: AccountId, candidates: Iterable[AccountId]) -> set[AccountId]:
        """Those of the candidates that `by` follows, from the follower's shard."""
        rows = await self._shards.owner(by).fetch(
            QUERIES.which_followed, account_id=by, candidates=list(set(candidates))
        )
        return {AccountId(row["followee_id"]) for row in rows}

    async def list_followees(self, of: AccountId) -> list[AccountId]:
        """The accounts that an account follows."""
        return await self._shards.owner(of).fetch_value(
            QUERIES.list_followees, account_id=of, limit=MAX_FOLLOWEES
        )

    async def pages_of_followers(
        self, of: AccountId, *, size: int = 1000, after: int = 0, until: int = LARGEST_ID
    ) -> AsyncIterator[list[AccountId]]:
        """All followers with `after` < id <= `until`, in order of id, a page at a time."""
        while True:
            page: list[AccountId] = await self._shards.owner(of).fetch_value(
                QUERIES.page_followers, account_id=of, after=after, until=until, limit=size
            )
            if page:
                yield page
            if len(page) < size:
                return
            after = page[-1]

    async def split_followers(self, of: AccountId, *, size: int) -> list[int]:
        """The ids at which work on all followers can be split into parts of this size."""
        rows = await self._shards.owner(of).fetch(QUERIES.split_followers, account_id=of, size=size)
        return [row["follower_id"] for row in rows]

    # Jobs.

    async def sweep_ended(self) -> None:
        """Delete the traces of follows and blocks that ended more than a week ago."""
        await sweep_ended(self._shards)

    def reconciled_counters(self) -> list[ReconciledCounter]:
        """The counts of followers and followees, for the reconciler."""
        return reconciled_counters(self._on_count_repaired)

    def handlers(self) -> list[Handler]:
        """The room's event handlers."""
        return [
            on(FollowChanged, self._handle_changes, name="graph-mirror", many=True),
            on(FollowRequested, self._handle_changes, name="graph-mirror-request", many=True),
            on(FollowDecided, self._mirror.correct, name="graph-correct"),
            on(BlockChanged, self._blocks.apply, name="graph-mirror-block"),
            on(PrivacyChanged, self._follows.approve_all, name="graph-approve-all"),
        ]

    def schedules(self) -> list[Schedule]:
        """The room's periodic jobs."""
        return [
            Schedule("graph-sweep", 86_400, self.sweep_ended),
            Schedule("graph-approve-forgotten", 3600, self.approve_forgotten),
        ]

    async def _handle_changes(self, changes: Sequence[Change]) -> None:
        """Finish what processes that died after their commits left undone."""
        await self.ensure_mirrored(changes)
        people = {each for change in changes for each in (change.follower_id, change.followee_id)}
        await self._viewer_invalidation.invalidate(*{change.follower_id for change in changes})
        await self._accounts.drop_outdated(people)

    async def _on_count_repaired(self, account_id: int) -> None:
        await self._accounts.invalidate_counts(AccountId(account_id))


def _relation(row: asyncpg.Record) -> Relation:
    return Relation(**{name: value for name, value in row.items() if name != "id"})
