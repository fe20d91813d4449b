"""Export and erasure of what a person reported, and of the cases about their own content."""

from collections.abc import AsyncIterator

import asyncpg

from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.moderation.dependencies import ModerationDependencies
from tintype.moderation.reports import Reports
from tintype.moderation.store import QUERIES

BATCH = 200


class ModerationPersonalData:
    """One person's reports, and the cases about them."""

    def __init__(self, deps: ModerationDependencies, reports: Reports) -> None:
        self._shards, self._partitions, self._reports = deps.shards, deps.partitions, reports

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """What the person reported, and what was decided about their own content."""
        for row in await self._list_traces(account_id):
            if row["part"] == "owner":
                continue
            report = await self._partitions.of_object(row["kind"], row["object_id"]).fetch_one(
                QUERIES.find_own_report,
                kind=row["kind"],
                object_id=row["object_id"],
                reporter_id=account_id,
            )
            if report is not None:
                about = {"kind": row["kind"], "object_id": str(row["object_id"])}
                said = {"reason": report["reason"], "note": report["note"]}
                at = {"at": report["reported_at"].isoformat()}
                yield ExportRecord("reports.json", about | said | at)
        for case in await self._reports.list_decisions(account_id):
            about = {"kind": case.kind, "object_id": str(case.object_id)}
            yield ExportRecord("decisions.json", about | {"outcome": case.outcome, "appeal": case.appeal})

    async def erase(self, account_id: AccountId) -> int:
        """Anonymize a batch: reports lose their reporter, cases their evidence; the log stays as it is."""
        rows = await self._list_traces(account_id)
        for row in rows:
            key = {"kind": row["kind"], "object_id": row["object_id"]}
            partition = self._partitions.of_object(row["kind"], row["object_id"])
            if row["part"] == "reporter":
                await partition.execute(QUERIES.erase_reporter, reporter_id=account_id, **key)
            else:
                await partition.execute(QUERIES.erase_owner, owner_id=account_id, **key)
            own = self._shards.owner(account_id)
            await own.execute(QUERIES.delete_trace, account_id=account_id, part=row["part"], **key)
        return len(rows)

    async def count_left(self, account_id: AccountId) -> int:
        """How many cases still hold something of this person."""
        return await self._shards.owner(account_id).fetch_value(QUERIES.count_traces, account_id=account_id)

    async def _list_traces(self, account_id: AccountId) -> list[asyncpg.Record]:
        return await self._shards.owner(account_id).fetch(
            QUERIES.list_traces, account_id=account_id, part=None, limit=BATCH
        )
