"""Decisions of moderators. Each is one transaction on the case's shard: the decision, its log entry, its event.

Its effects elsewhere (hiding a post, ending sessions, warning the author) are applied right after the commit and again
by the event's handler. Both apply what the case says *now*, so they may run twice, late and in any order.
"""

import asyncpg

from shardwright.errors import ShardwrightError
from shardwright.routing import Transaction
from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.moderation.case_log import add_log_entry
from tintype.moderation.claims import check_unclaimed
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import ActionUnsuitable, ObjectGone, OwnCase, RankTooLow, TextMissing
from tintype.moderation.events import CaseDecided
from tintype.moderation.kinds import (
    ALLOWED_ACTIONS,
    NOTIFIED_ACTIONS,
    OUTCOMES,
    STATE_AFTER,
    Action,
    ObjectKind,
)
from tintype.moderation.models import Case
from tintype.moderation.reports import Reports, check_text, open_case
from tintype.moderation.store import QUERIES

MAX_ROUNDS = 5
COMMAND_LINE = Account(
    id=AccountId(0),
    username="",
    full_name="",
    bio="",
    website="",
    avatar_folder=None,
    status="active",
    role="operator",
    is_private=False,
    is_verified=False,
    post_count=0,
    follower_count=0,
    following_count=0,
)
"""Who acts in the log when an operator uses the command line: nobody with an account."""
COMMAND_LINE_REASON = "On the command line."
log = get_log("moderation")


class Decisions:
    """Opens and decides cases, and applies the effects."""

    def __init__(self, deps: ModerationDependencies, reports: Reports) -> None:
        self._outbox, self._partitions, self._objects = deps.outbox, deps.partitions, deps.objects
        self._accounts, self._notifications, self._reports = deps.accounts, deps.notifications, reports
        self._held = deps.held_evidence

    async def open(self, moderator: Account, kind: ObjectKind, object_id: int, reason: str) -> Case:
        """Open a case without a report, about something a moderator has come across."""
        reason = _check_reason(reason)
        snapshot = await self._objects.get_snapshot(kind, object_id, moderator.id)
        await self._reports.record_trace(snapshot.owner_id, "owner", kind, object_id)
        async with self._partitions.of_object(kind, object_id).begin() as tx:
            case_id = await open_case(tx, kind, object_id, snapshot)
            before = await self._partitions.lock(tx, case_id)
            await tx.execute(QUERIES.reopen_case, case_id=case_id)
            await add_log_entry(tx, before, moderator, "open", reason)
        await self._held.hold(kind, object_id, snapshot)
        return await self._partitions.get(case_id)

    async def act(self, moderator: Account, case_id: int, action: Action, reason: str) -> Case:
        """Decide a case, or add a note to it. The effects are applied when this returns, or soon after."""
        reason = _check_reason(reason)
        case = await self._partitions.get(case_id)
        await self._check_rank(moderator, case)
        decided: CaseDecided | None = None
        async with self._partitions.of_case(case_id).begin() as tx:
            case = await self._partitions.lock(tx, case_id)
            check_unclaimed(case, moderator)
            _check_allowed(case, action)
            act_id = await add_log_entry(tx, case, moderator, action, reason)
            if action != "note":
                decided = CaseDecided(case_id, act_id, action, case.owner_id, moderator.id)
                await self._decide(tx, case, decided)
        log.info("case.acted_on", case_id=case_id, action=action, moderator_id=moderator.id)
        if decided is not None:
            await self._apply_at_once(decided)
        return await self._partitions.get(case_id)

    async def record_suspension(self, account_id: AccountId, *, is_suspended: bool) -> None:
        """Record what an operator decided on the command line as a case, so that its owner can appeal."""
        case = await self._partitions.find("account", account_id)
        if (case is not None and case.object_state == "suspended") == is_suspended:
            return
        snapshot = await self._objects.get_snapshot("account", account_id, account_id)
        await self._reports.record_trace(account_id, "owner", "account", account_id)
        action: Action = "suspend" if is_suspended else "unsuspend"
        async with self._partitions.of_object("account", account_id).begin() as tx:
            case = await self._partitions.lock(tx, await open_case(tx, "account", account_id, snapshot))
            act_id = await add_log_entry(tx, case, COMMAND_LINE, action, COMMAND_LINE_REASON)
            await self._decide(tx, case, CaseDecided(case.id, act_id, action, account_id, COMMAND_LINE.id))

    async def apply(self, event: CaseDecided) -> None:
        """Bring the object in line with what was decided, notify its owner, and let go what was kept for the case."""
        if event.action in STATE_AFTER:
            case = await self._partitions.get(event.case_id)
            for _ in range(MAX_ROUNDS):
                await self._objects.apply_state(case, event.moderator_id)
                # Another decision may have come in the meantime: the state that holds now must be applied.
                before, case = case, await self._partitions.get(event.case_id)
                if case.object_state == before.object_state:
                    break
        if event.action in NOTIFIED_ACTIONS:
            await self._notifications.warn(event.owner_id, object_id=event.case_id, act_id=event.act_id)
        await self._held.release(await self._partitions.get(event.case_id))

    async def _decide(self, tx: Transaction, case: Case, decided: CaseDecided) -> None:
        await tx.execute(
            QUERIES.decide_case,
            case_id=case.id,
            object_state=STATE_AFTER.get(decided.action, case.object_state),
            outcome=OUTCOMES[decided.action],
            act_id=decided.act_id,
        )
        await self._outbox.add(tx, decided)

    async def _apply_at_once(self, event: CaseDecided) -> None:
        try:
            await self.apply(event)
        except (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning("decision.postponed", case_id=event.case_id, error=str(error))

    async def _check_rank(self, moderator: Account, case: Case) -> None:
        if case.owner_id == moderator.id:
            raise OwnCase
        owner = (await self._accounts.find_many([case.owner_id])).get(case.owner_id)
        if owner is not None and owner.is_moderator and moderator.role != "operator":
            raise RankTooLow


def _check_allowed(case: Case, action: Action) -> None:
    if action not in ALLOWED_ACTIONS[case.kind]:
        raise ActionUnsuitable
    if case.object_state == "deleted" and action in STATE_AFTER:
        raise ObjectGone


def _check_reason(reason: str) -> str:
    reason = check_text(reason)
    if not reason:
        raise TextMissing
    return reason
