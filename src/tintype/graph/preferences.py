"""Preferences towards others, which they do not learn of: mutes, restrictions, close friends, dismissed suggestions."""

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId
from tintype.base.rate_limits import PREFERENCE
from tintype.graph.dependencies import GraphDependencies
from tintype.graph.errors import CannotBeYourself, TooManyPreferences
from tintype.graph.relations import STRANGER, Relation, is_account_visible
from tintype.graph.store import QUERIES

MAX_PREFERENCES = 10_000
FLAGS = ("mutes_posts", "mutes_stories", "is_close_friend", "restricts", "is_dismissed")


class Preferences:
    """Stored on the shard of the account that set them, and seen by nobody else."""

    def __init__(self, deps: GraphDependencies) -> None:
        self._deps = deps

    async def mute(
        self, by: AccountId, target: AccountId, *, posts: bool | None = None, stories: bool | None = None
    ) -> None:
        """Mute or unmute somebody's posts or stories; None leaves it as it is."""
        await self._set(by, target, mutes_posts=posts, mutes_stories=stories)

    async def set_close_friend(self, by: AccountId, target: AccountId, *, is_close: bool = True) -> None:
        """Add somebody to the close friends, or remove them."""
        await self._set(by, target, is_close_friend=is_close)

    async def restrict(self, by: AccountId, target: AccountId, *, is_restricted: bool = True) -> None:
        """Show somebody's comments to themselves alone, or to everybody again."""
        await self._set(by, target, restricts=is_restricted)

    async def dismiss_suggestion(self, by: AccountId, target: AccountId) -> None:
        """Do not suggest somebody any more."""
        await self._set(by, target, is_dismissed=True)

    async def _set(self, by: AccountId, target: AccountId, **flags: bool | None) -> None:
        if by == target:
            raise CannotBeYourself
        await self._deps.limiter.acquire(PREFERENCE, by)
        is_setting = any(flags.values())
        if is_setting:
            await self._check_visible(by, target)
        async with self._deps.shards.owner(by).begin() as tx:
            self._deps.viewer_invalidation.invalidate_after_commit(tx, by)
            stored = await tx.fetch_one(
                QUERIES.set_preference,
                account_id=by,
                target_id=target,
                limit=MAX_PREFERENCES,
                **{**dict.fromkeys(FLAGS), **flags},
            )
            if stored is None and is_setting:
                raise TooManyPreferences
            if not is_setting:
                await tx.execute(QUERIES.delete_empty_preference, account_id=by, target_id=target)

    async def _check_visible(self, by: AccountId, target: AccountId) -> None:
        """Refuse towards somebody who may not be seen; taking a preference back is always possible."""
        account = await self._deps.accounts.get(target, with_counts=False)
        row = await self._deps.shards.owner(by).fetch_one(QUERIES.relations, viewer_id=by, others=[target])
        relation = Relation(blocks=row["blocks"], is_blocked=row["is_blocked"]) if row else STRANGER
        if not is_account_visible(account, relation):
            raise AccountNotFound
