"""Claims: which moderator is working on a case. A claim expires by itself after half an hour."""

from datetime import UTC, datetime

from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.moderation.case_log import add_log_entry
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import CaseClaimed, NotAModerator, OwnCase
from tintype.moderation.kinds import LogAction
from tintype.moderation.models import Case
from tintype.moderation.store import QUERIES

CLAIM_S = 30 * 60


class Claims:
    """Assigns cases to moderators."""

    def __init__(self, deps: ModerationDependencies) -> None:
        self._partitions, self._accounts = deps.partitions, deps.accounts

    async def claim(self, moderator: Account, case_id: int) -> Case:
        """The case is this moderator's to decide, for half an hour."""
        return await self._set(moderator, case_id, to=moderator, action="claim")

    async def assign(self, moderator: Account, case_id: int, to: AccountId) -> Case:
        """The case is another moderator's to decide; only an operator may take it from whoever has claimed it."""
        colleague = (await self._accounts.find_many([to])).get(to)
        if colleague is None or not colleague.is_moderator or not colleague.is_active:
            raise NotAModerator("There is no such moderator.")
        return await self._set(moderator, case_id, to=colleague, action="assign")

    async def release(self, moderator: Account, case_id: int) -> Case:
        """The case is free for others to claim."""
        return await self._set(moderator, case_id, to=None, action="release")

    async def _set(self, moderator: Account, case_id: int, *, to: Account | None, action: LogAction) -> Case:
        async with self._partitions.of_case(case_id).begin() as tx:
            case = await self._partitions.lock(tx, case_id)
            if case.owner_id == (to.id if to else moderator.id):
                raise OwnCase
            if moderator.role != "operator":
                check_unclaimed(case, moderator)
            if to is None:
                await tx.execute(QUERIES.release_case, case_id=case_id)
            else:
                await tx.execute(
                    QUERIES.claim_case, case_id=case_id, moderator_id=to.id, claim_s=float(CLAIM_S)
                )
            await add_log_entry(tx, case, moderator, action, "")
        return await self._partitions.get(case_id)


def check_unclaimed(case: Case, moderator: Account) -> None:
    """Refuse a case that another moderator has claimed."""
    is_claimed = case.claimed_until is not None and case.claimed_until > datetime.now(UTC)
    if is_claimed and case.claimed_by != moderator.id:
        raise CaseClaimed
