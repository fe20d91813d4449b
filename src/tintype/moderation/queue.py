"""The moderators' queue: open cases, who looks at which, and the log of all that was done."""

from shardwright.running import Queries
from tintype.accounts import Account
from tintype.base.ids import LARGEST_ID, AccountId
from tintype.moderation.desks import Desks, case_of, entry_of
from tintype.moderation.kinds import ObjectKind, Order, Status
from tintype.moderation.models import Case, CasePage, CasePlace, Complaint, LogEntry, LogPage

COMPLAINTS_SHOWN = 100
ENTRIES_SHOWN = 500
MOST_REPORTS = 2**31 - 1
FIRST: dict[Order, CasePlace] = {"oldest": CasePlace(0, 0), "most_reported": CasePlace(MOST_REPORTS, 0)}


class Queue:
    """Reads what lies on the desks."""

    def __init__(self, queries: Queries, desks: Desks) -> None:
        self._queries, self._desks = queries, desks

    async def page(
        self,
        moderator: Account,
        *,
        status: Status = "open",
        order: Order = "oldest",
        kind: ObjectKind | None = None,
        is_mine: bool = False,
        is_free: bool = False,
        is_appealed: bool = False,
        place: CasePlace | None = None,
        limit: int = 20,
    ) -> CasePage:
        """Cases that fit, in the order asked for."""
        start = place or FIRST[order]
        params = {
            "status": status,
            "kind": kind,
            "is_appealed": is_appealed,
            "claimed_by": moderator.id if is_mine else None,
            "is_free": is_free,
            "opened_id": start.opened_id,
            "limit": limit + 1,
        }
        if order == "oldest":
            rows = await self._desks.fetch_all(self._queries.page_oldest, **params)
            cases = sorted(map(case_of, rows), key=lambda case: case.opened_id)
        else:
            params["report_count"] = start.report_count
            rows = await self._desks.fetch_all(self._queries.page_most_reported, **params)
            cases = sorted(map(case_of, rows), key=lambda case: (-case.report_count, case.opened_id))
        shown = cases[:limit]
        last = CasePlace(shown[-1].report_count, shown[-1].opened_id) if len(cases) > limit else None
        return CasePage(shown, last)

    async def get(self, case_id: int) -> Case:
        """One case."""
        return await self._desks.get(case_id)

    async def complaints(self, case_id: int) -> list[Complaint]:
        """What was said about it, newest first."""
        rows = await self._desks.of_case(case_id).fetch(
            self._queries.list_complaints, case_id=case_id, limit=COMPLAINTS_SHOWN
        )
        return [Complaint(**row) for row in rows]

    async def reasons(self, case_id: int) -> dict[str, int]:
        """How often each reason was given."""
        rows = await self._desks.of_case(case_id).fetch(self._queries.count_reasons, case_id=case_id)
        return {row["reason"]: row["count"] for row in rows}

    async def history(self, case_id: int) -> list[LogEntry]:
        """Everything that was done about it, in its order."""
        rows = await self._desks.of_case(case_id).fetch(
            self._queries.list_acts, case_id=case_id, after_id=0, limit=ENTRIES_SHOWN
        )
        return [entry_of(row) for row in rows]

    async def log(
        self, *, moderator_id: AccountId | None = None, before: int = LARGEST_ID, limit: int = 50
    ) -> LogPage:
        """Everything that moderators did, newest first; of one of them, if named."""
        rows = await self._desks.fetch_all(
            self._queries.page_acts, before_id=before, moderator_id=moderator_id, limit=limit + 1
        )
        entries = sorted(map(entry_of, rows), key=lambda entry: entry.id, reverse=True)
        shown = entries[:limit]
        return LogPage(shown, shown[-1].id if len(entries) > limit else None)
