"""The moderation room as others use it."""

from collections.abc import AsyncIterator

from shardwright.routing import Shards
from tintype.accounts import Account, Accounts
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.outbox import Outbox
from tintype.base.personal_data import ExportRecord
from tintype.comments import Comments
from tintype.graph import Visibility
from tintype.moderation.claims import Claims
from tintype.moderation.decisions import Decisions
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.errors import NotAModerator
from tintype.moderation.events import CaseDecided
from tintype.moderation.kinds import Action, CaseStatus, ObjectKind, QueueOrder, Reason
from tintype.moderation.models import Case, CaseCursor, CasePage, Complaint, LogEntry, LogPage
from tintype.moderation.personal_data import PersonalData
from tintype.moderation.queue import ModerationQueue
from tintype.moderation.queue_partitions import QueuePartitions
from tintype.moderation.reportable_objects import (
    ReportableAccounts,
    ReportableComments,
    ReportableObjects,
    ReportablePosts,
    ReportableStories,
)
from tintype.moderation.reports import Reports
from tintype.notifications import Notifications
from tintype.posts import Posts
from tintype.redis.rate_limits import RateLimiter
from tintype.stories import Stories


class Moderation:
    """Reports and appeals by everybody; the queue, claims, decisions and the log for moderators."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        visibility: Visibility,
        *,
        accounts: Accounts,
        posts: Posts,
        comments: Comments,
        stories: Stories,
        notifications: Notifications,
        limiter: RateLimiter,
    ) -> None:
        deps = ModerationDependencies(
            shards=shards,
            outbox=outbox,
            accounts=accounts,
            notifications=notifications,
            limiter=limiter,
            partitions=QueuePartitions(shards),
            objects=ReportableObjects(
                {
                    "account": ReportableAccounts(visibility, accounts),
                    "post": ReportablePosts(posts),
                    "comment": ReportableComments(comments),
                    "story": ReportableStories(stories),
                }
            ),
        )
        self._reports = Reports(deps)
        self._queue = ModerationQueue(deps)
        self._claims = Claims(deps)
        self._decisions = Decisions(deps, self._reports)
        self._personal_data = PersonalData(deps, self._reports)

    async def report(
        self, kind: ObjectKind, object_id: int, by: AccountId, *, reason: Reason, note: str = ""
    ) -> None:
        """Report an object to the moderators; reporting it again changes nothing."""
        await self._reports.report(kind, object_id, by, reason=reason, note=note)

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
        self,
        moderator: Account,
        *,
        status: CaseStatus = "open",
        order: QueueOrder = "oldest",
        kind: ObjectKind | None = None,
        is_mine: bool = False,
        is_free: bool = False,
        is_appealed: bool = False,
        cursor: CaseCursor | None = None,
        limit: int = 20,
    ) -> CasePage:
        """A page of the cases that match, in the order asked for."""
        return await self._queue.page(
            moderator,
            status=status,
            order=order,
            kind=kind,
            is_mine=is_mine,
            is_free=is_free,
            is_appealed=is_appealed,
            cursor=cursor,
            limit=limit,
        )

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

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """What the person reported, and what was decided about their own content."""
        return self._personal_data.export(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Anonymize a batch of this person's reports and cases; returns how many."""
        return await self._personal_data.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many cases still hold something of this person."""
        return await self._personal_data.count_left(account_id)

    def handlers(self) -> list[Handler]:
        """Apply decisions whose effects were not applied at once."""
        return [on(CaseDecided, self._decisions.apply, name="moderation-follow")]

    def schedules(self) -> list[Schedule]:
        """Nothing: the room has no repeated work."""
        return []
