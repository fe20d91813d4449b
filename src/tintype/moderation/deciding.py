"""What moderators do. Each act is one transaction on the case's desk: the decision, its entry in the log, its event.

What follows elsewhere (hiding a post, ending sessions, telling the author) is done right after the commit and again by
the event's handler. Both make true what the case says *now*, so they may run twice, late and in any order.
"""

from datetime import UTC, datetime

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from shardwright.running import Queries, Transaction
from tintype.accounts import Account, Accounts
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.outbox import Outbox
from tintype.moderation.desks import Desks
from tintype.moderation.errors import (
    ActionUnsuitable,
    CaseClaimed,
    NotAModerator,
    ObjectGone,
    OwnCase,
    RankTooLow,
    TextMissing,
)
from tintype.moderation.events import CaseDecided
from tintype.moderation.kinds import OUTCOMES, STATE_AFTER, SUITS, TOLD, Action, Entry, ObjectKind
from tintype.moderation.models import Case
from tintype.moderation.objects import Objects
from tintype.moderation.reporting import Reporting, check_text, encode
from tintype.notifications import Notifications

CLAIM_S = 30 * 60
MOST_ROUNDS = 5
log = get_log("moderation")


class Deciding:
    """Claims, decisions and their consequences."""

    def __init__(
        self,
        outbox: Outbox,
        *,
        queries: Queries,
        desks: Desks,
        objects: Objects,
        reporting: Reporting,
        accounts: Accounts,
        notifications: Notifications,
    ) -> None:
        self._outbox, self._queries, self._desks, self._objects = outbox, queries, desks, objects
        self._reporting, self._accounts, self._notifications = reporting, accounts, notifications

    async def open(self, moderator: Account, kind: ObjectKind, object_id: int, reason: str) -> Case:
        """A case without a report: a moderator has come across something."""
        reason = _check_reason(reason)
        seen = await self._objects.look(kind, object_id, moderator.id)
        await self._reporting.trace(seen.owner_id, "owner", kind, object_id)
        async with self._desks.of_object(kind, object_id).begin() as tx:
            case_id = await tx.fetch_value(
                self._queries.open_case,
                kind=kind,
                object_id=object_id,
                owner_id=seen.owner_id,
                evidence=encode(seen),
            )
            before = await self._desks.lock(tx, case_id)
            await tx.execute(self._queries.reopen_case, case_id=case_id)
            await self._log(tx, before, moderator, "open", reason)
        return await self._desks.get(case_id)

    async def claim(self, moderator: Account, case_id: int) -> Case:
        """The case is this moderator's to look at, for half an hour."""
        return await self._hand(moderator, case_id, to=moderator, action="claim")

    async def assign(self, moderator: Account, case_id: int, to: AccountId) -> Case:
        """The case is another moderator's to look at; an operator may take it from one for that."""
        colleague = (await self._accounts.find_many([to])).get(to)
        if colleague is None or not colleague.is_moderator or not colleague.is_active:
            raise NotAModerator("There is no such moderator.")
        return await self._hand(moderator, case_id, to=colleague, action="assign")

    async def release(self, moderator: Account, case_id: int) -> Case:
        """The case is free for others."""
        return await self._hand(moderator, case_id, to=None, action="release")

    async def act(self, moderator: Account, case_id: int, action: Action, reason: str) -> Case:
        """Decide a case, or note something about it. What follows is true when this returns, or soon."""
        reason = _check_reason(reason)
        case = await self._desks.get(case_id)
        await self._check_rank(moderator, case)
        decided: CaseDecided | None = None
        async with self._desks.of_case(case_id).begin() as tx:
            case = await self._desks.lock(tx, case_id)
            _check_free(case, moderator)
            _check_suits(case, action)
            act_id = await self._log(tx, case, moderator, action, reason)
            if action != "note":
                decided = CaseDecided(case_id, act_id, action, case.owner_id, moderator.id)
                await self._decide(tx, case, decided)
        log.info("case.acted_on", case_id=case_id, action=action, moderator_id=moderator.id)
        if decided is not None:
            await self._follow_at_once(decided)
        return await self._desks.get(case_id)

    async def follow(self, event: CaseDecided) -> None:
        """Bring the object and its owner in line with what was decided."""
        if event.action in STATE_AFTER:
            case = await self._desks.get(event.case_id)
            for _ in range(
                MOST_ROUNDS
            ):  # decided anew while we were at it: what holds now is what must be true
                await self._objects.bring(case, event.moderator_id)
                before, case = case, await self._desks.get(event.case_id)
                if case.object_state == before.object_state:
                    break
        if event.action in TOLD:
            await self._notifications.warn(event.owner_id, object_id=event.case_id, act_id=event.act_id)

    async def _decide(self, tx: Transaction, case: Case, decided: CaseDecided) -> None:
        await tx.execute(
            self._queries.decide_case,
            case_id=case.id,
            object_state=STATE_AFTER.get(decided.action, case.object_state),
            outcome=OUTCOMES[decided.action],
            act_id=decided.act_id,
        )
        await self._outbox.add(tx, decided)

    async def _follow_at_once(self, event: CaseDecided) -> None:
        try:
            await self.follow(event)
        except (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            log.warning("decision.postponed", case_id=event.case_id, error=str(error))

    async def _hand(self, moderator: Account, case_id: int, *, to: Account | None, action: Entry) -> Case:
        async with self._desks.of_case(case_id).begin() as tx:
            case = await self._desks.lock(tx, case_id)
            if case.owner_id == (to.id if to else moderator.id):
                raise OwnCase
            if moderator.role != "operator":
                _check_free(case, moderator)
            if to is None:
                await tx.execute(self._queries.release_case, case_id=case_id)
            else:
                await tx.execute(
                    self._queries.claim_case, case_id=case_id, moderator_id=to.id, claim_s=float(CLAIM_S)
                )
            await self._log(tx, case, moderator, action, "")
        return await self._desks.get(case_id)

    async def _log(self, tx: Transaction, case: Case, moderator: Account, action: Entry, reason: str) -> int:
        """Keep what was so before, and what is so from here on, with who did it and why."""
        before = _standing(case)
        after = dict(before)
        if action in OUTCOMES:
            state = STATE_AFTER.get(action, case.object_state)
            after |= {"status": "closed", "object_state": state, "outcome": OUTCOMES[action]}
        elif action == "open":
            after["status"] = "open"
        return await tx.fetch_value(
            self._queries.log_act,
            case_id=case.id,
            moderator_id=moderator.id,
            action=action,
            reason=reason,
            before=msgspec.json.encode(before).decode(),
            after=msgspec.json.encode(after).decode(),
        )

    async def _check_rank(self, moderator: Account, case: Case) -> None:
        if case.owner_id == moderator.id:
            raise OwnCase
        owner = (await self._accounts.find_many([case.owner_id])).get(case.owner_id)
        if owner is not None and owner.is_moderator and moderator.role != "operator":
            raise RankTooLow


def _standing(case: Case) -> dict[str, str | None]:
    return {
        "status": case.status,
        "object_state": case.object_state,
        "outcome": case.outcome,
        "claimed_by": str(case.claimed_by) if case.claimed_by else None,
    }


def _check_free(case: Case, moderator: Account) -> None:
    is_held = case.claimed_until is not None and case.claimed_until > datetime.now(UTC)
    if is_held and case.claimed_by != moderator.id:
        raise CaseClaimed


def _check_suits(case: Case, action: Action) -> None:
    if action not in SUITS[case.kind]:
        raise ActionUnsuitable
    if case.object_state == "deleted" and action in STATE_AFTER:
        raise ObjectGone


def _check_reason(reason: str) -> str:
    reason = check_text(reason)
    if not reason:
        raise TextMissing
    return reason
