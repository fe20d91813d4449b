"""The moderation room as others use it."""

from tintype.accounts import Account
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.personal_data import PersonalDataHolder
from tintype.moderation.claims import Claims
from tintype.moderation.decisions import Decisions
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import NotAModerator
from tintype.moderation.events import CaseDecided
from tintype.moderation.kinds import Action, ObjectKind, Reason
from tintype.moderation.models import Case, CaseCursor, CaseFilter, CasePage, Complaint, LogEntry, LogPage
from tintype.moderation.personal_data import ModerationPersonalData
from tintype.moderation.queue import ModerationQueue
from tintype.moderation.reports import Reports

SWEEP_EVERY_S = 3_600.0


class Moderation:
    """Reports and appeals by everybody; the queue, claims, decisions and the log for moderators."""

    def __init__(self, deps: ModerationDependencies) -> None:
        self._held = deps.held_evidence
        self._reports = Reports(deps)
        self._queue = ModerationQueue(deps)
        self._claims = Claims(deps)
        self._decisions = Decisions(deps, self._reports)
        self.personal_data: PersonalDataHolder = ModerationPersonalData(deps, self._reports)

    async def report(
        self,
        kind: ObjectKind,
        object_id: int,
        by: AccountId,
        *,
        reason: Reason,
        note: str = "",
        claimed_text: str = "",
    ) -> None:
        """Report an object to the moderators; reporting it again changes nothing.

        `claimed_text` is what an encrypted message says, as far as the reporter is to be believed.
        """
        await self._reports.report(kind, object_id, by, reason=reason, note=note, claimed_text=claimed_text)

    async def list_decisions(self, account_id: AccountId) -> list[Case]:
        """The decisions about an account and its content, newest first."""
        return await self._reports.list_decisions(account_id)

    async def appeal(self, case_id: int, by: AccountId, text: str) -> None:
        """The owner asks the moderators to reconsider, once per decision."""
        await self._reports.appeal(case_id, by, text)

    def require_moderator(self, account: Account) -> Account:
        """The account if it is a moderator's; everybody else gets "not found", as if there were nothing here."""
        if not account.is_moderator:
            raise NotAModerator
        return account

    async def get_queue_page(
        self, moderator: Account, wanted: CaseFilter, *, cursor: CaseCursor | None, limit: int
    ) -> CasePage:
        """A page of the cases that match, in the order asked for."""
        return await self._queue.page(moderator, wanted, cursor=cursor, limit=limit)

    async def get_case(self, case_id: int) -> Case:
        """One case."""
        return await self._queue.get(case_id)

    async def list_complaints(self, case_id: int) -> list[Complaint]:
        """What reporters said about the object, newest first, without who said it."""
        return await self._queue.list_complaints(case_id)

    async def count_reasons(self, case_id: int) -> dict[str, int]:
        """How often each reason was given."""
        return await self._queue.count_reasons(case_id)

    async def list_history(self, case_id: int) -> list[LogEntry]:
        """The log entries of one case, oldest first."""
        return await self._queue.list_history(case_id)

    async def get_log_page(
        self, *, moderator_id: AccountId | None = None, before: int = LARGEST_ID, limit: int = 50
    ) -> LogPage:
        """A page of the log of all moderators' acts, newest first; of one moderator, if named."""
        return await self._queue.page_log(moderator_id=moderator_id, before=before, limit=limit)

    async def open_case(self, moderator: Account, kind: ObjectKind, object_id: int, reason: str) -> Case:
        """Open a case without a report, about something a moderator has come across."""
        return await self._decisions.open(moderator, kind, object_id, reason)

    async def claim_case(self, moderator: Account, case_id: int) -> Case:
        """The case is this moderator's to decide, for half an hour."""
        return await self._claims.claim(moderator, case_id)

    async def assign_case(self, moderator: Account, case_id: int, to: AccountId) -> Case:
        """The case is another moderator's to decide."""
        return await self._claims.assign(moderator, case_id, to)

    async def release_case(self, moderator: Account, case_id: int) -> Case:
        """The case is free for others to claim."""
        return await self._claims.release(moderator, case_id)

    async def act_on_case(self, moderator: Account, case_id: int, action: Action, reason: str) -> Case:
        """Decide a case, or add a note to it. The effects are applied when this returns, or soon after."""
        return await self._decisions.act(moderator, case_id, action, reason)

    async def record_suspension(self, account_id: AccountId, *, is_suspended: bool) -> None:
        """Record a suspension, or its end, that an operator decided on the command line: its owner can appeal."""
        await self._decisions.record_suspension(account_id, is_suspended=is_suspended)

    def handlers(self) -> list[Handler]:
        """Apply decisions whose effects were not applied at once."""
        return [on(CaseDecided, self._decisions.apply, name="moderation-follow")]

    def schedules(self) -> list[Schedule]:
        """Let go what is kept for cases that are closed."""
        return [Schedule("moderation-evidence", SWEEP_EVERY_S, self._held.sweep)]
