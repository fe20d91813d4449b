"""The moderators' queue: cases in order, what was said about each, and the log of everything that was done."""

from tintype.accounts import Account
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.kinds import QueueOrder
from tintype.moderation.models import Case, CaseCursor, CaseFilter, CasePage, Complaint, LogEntry, LogPage
from tintype.moderation.store import QUERIES, read_case, read_log_entry

COMPLAINTS_SHOWN = 100
ENTRIES_SHOWN = 500
MAX_REPORTS = 2**31 - 1
FIRST: dict[QueueOrder, CaseCursor] = {
    "oldest": CaseCursor(0, 0),
    "most_reported": CaseCursor(MAX_REPORTS, 0),
}


class ModerationQueue:
    """Reads cases and the log from all partitions."""

    def __init__(self, deps: ModerationDependencies) -> None:
        self._partitions = deps.partitions

    async def page(
        self, moderator: Account, wanted: CaseFilter, *, cursor: CaseCursor | None, limit: int
    ) -> CasePage:
        """A page of the cases that match, in the order asked for."""
        start = cursor or FIRST[wanted.order]
        params = {
            "status": wanted.status,
            "kind": wanted.kind,
            "is_appealed": wanted.is_appealed,
            "claimed_by": moderator.id if wanted.is_mine else None,
            "is_free": wanted.is_free,
            "opened_id": start.opened_id,
            "limit": limit + 1,
        }
        if wanted.order == "oldest":
            rows = await self._partitions.fetch_all(QUERIES.page_oldest, **params)
            cases = sorted(map(read_case, rows), key=lambda case: case.opened_id)
        else:
            params["report_count"] = start.report_count
            rows = await self._partitions.fetch_all(QUERIES.page_most_reported, **params)
            cases = sorted(map(read_case, rows), key=lambda case: (-case.report_count, case.opened_id))
        shown = cases[:limit]
        last = CaseCursor(shown[-1].report_count, shown[-1].opened_id) if len(cases) > limit else None
        return CasePage(shown, last)

    async def get(self, case_id: int) -> Case:
        """One case."""
        return await self._partitions.get(case_id)

    async def list_complaints(self, case_id: int) -> list[Complaint]:
        """What reporters said about the object, newest first, without who said it."""
        rows = await self._partitions.of_case(case_id).fetch(
            QUERIES.list_complaints, case_id=case_id, limit=COMPLAINTS_SHOWN
        )
        return [Complaint(**row) for row in rows]

    async def count_reasons(self, case_id: int) -> dict[str, int]:
        """How often each reason was given."""
        rows = await self._partitions.of_case(case_id).fetch(QUERIES.count_reasons, case_id=case_id)
        return {row["reason"]: row["count"] for row in rows}

    async def list_history(self, case_id: int) -> list[LogEntry]:
        """The log entries of one case, oldest first."""
        rows = await self._partitions.of_case(case_id).fetch(
            QUERIES.list_case_log, case_id=case_id, after_id=0, limit=ENTRIES_SHOWN
        )
        return [read_log_entry(row) for row in rows]

    async def page_log(
        self, *, moderator_id: AccountId | None = None, before: int = LARGEST_ID, limit: int = 50
    ) -> LogPage:
        """A page of the log, newest first; of one moderator, if named."""
        rows = await self._partitions.fetch_all(
            QUERIES.page_log, before_id=before, moderator_id=moderator_id, limit=limit + 1
        )
        entries = sorted(map(read_log_entry, rows), key=lambda entry: entry.id, reverse=True)
        shown = entries[:limit]
        return LogPage(shown, shown[-1].id if len(entries) > limit else None)
