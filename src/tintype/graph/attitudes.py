"""How one person treats another without their knowing: muting, restricting, counting among close friends."""

from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId
from tintype.base.limits import Rule
from tintype.graph.errors import CannotBeYourself, TooManyAttitudes
from tintype.graph.store import QUERIES, AtDesk

MOST_ATTITUDES = 10_000
CHURN = Rule("attitude", 1000, 3600)


class Attitudes(AtDesk):
    """Everything here lives on the shard of the one whose attitude it is, and is seen by nobody else."""

    async def mute(
        self, by: AccountId, target: AccountId, *, posts: bool | None = None, stories: bool | None = None
    ) -> None:
        """See no posts or no stories of somebody in one's feed; None leaves it as it is."""
        await self._set(by, target, mutes_posts=posts, mutes_stories=stories)

    async def befriend(self, by: AccountId, target: AccountId, *, is_close: bool = True) -> None:
        """Count somebody among one's close friends, or no longer."""
        await self._set(by, target, is_close_friend=is_close)

    async def restrict(self, by: AccountId, target: AccountId, *, is_restricted: bool = True) -> None:
        """Let somebody's comments be seen by themselves alone, or by everybody again."""
        await self._set(by, target, restricts=is_restricted)

    async def dismiss(self, by: AccountId, target: AccountId) -> None:
        """See somebody no longer among the suggestions."""
        await self._set(by, target, is_dismissed=True)

    async def _set(self, by: AccountId, target: AccountId, **flags: bool | None) -> None:
        if by == target:
            raise CannotBeYourself
        await self._limiter.take(CHURN, by)
        if any(flags.values()):
            await self._check(by, target)
        unset = dict.fromkeys(
            ("mutes_posts", "mutes_stories", "is_close_friend", "restricts", "is_dismissed"), None
        )
        async with self._shards.owner(by).begin() as tx:
            self._ties.change_with(tx, by)
            made = await tx.fetch_one(
                QUERIES.set_attitude,
                account_id=by,
                target_id=target,
                most=MOST_ATTITUDES,
                **{**unset, **flags},
            )
            if made is None and any(flags.values()):
                raise TooManyAttitudes
            if not any(flags.values()):
                await tx.execute(QUERIES.tidy_attitude, account_id=by, target_id=target)

    async def _check(self, by: AccountId, target: AccountId) -> None:
        """Only towards somebody one may know of; letting go is always possible."""
        account = await self._accounts.get(target)
        relation = await self._shards.owner(by).fetch_one(QUERIES.relations, viewer_id=by, others=[target])
        if not account.is_active or relation is None or relation["blocks"] or relation["is_blocked"]:
            raise AccountNotFound
