"""Writes how far a run of an import is: counts with the import, and each line of the report once.

A run that was killed is continued by another, which finds the same things again: a line has a digest, and what the
earlier run imported is told from what had been imported before the import began.
"""

import hashlib
import time
from typing import NamedTuple

from shardwright.routing import Shards
from tintype.imports.reasons import SkippedItem
from tintype.imports.report import ImportReport
from tintype.imports.runs import ImportRun, LineKind
from tintype.imports.store import QUERIES
from tintype.imports.wire import MAX_NAME_LENGTH

EVERY_S = 0.5
LINES = 500
MAX_PEOPLE_SHOWN = 500


class Line(NamedTuple):
    """A line of the report."""

    kind: LineKind
    about: SkippedItem


class RunSuperseded(Exception):
    """The import was cancelled, or another run of it has taken over."""


class ImportProgress:
    """The progress of one run."""

    def __init__(self, shards: Shards, run: ImportRun, run_key: str) -> None:
        self._shard, self._run, self._run_key = shards.owner(run.id), run, run_key
        self._known_before: int | None = None
        self._skipped_written = self._notes_written = 0
        self._written_at = 0.0

    async def record(self, report: ImportReport) -> None:
        """Write the counts and new lines, if there are lines or some time has passed."""
        if self._known_before is None:
            self._known_before = await self._record_plan(report)
        has_lines = len(report.skipped) > self._skipped_written or len(report.notes) > self._notes_written
        if has_lines or report.done >= report.total or time.monotonic() - self._written_at > EVERY_S:
            await self._write(report, self._known_before)

    async def touch(self) -> None:
        """Say that the run is alive."""
        if await self._shard.fetch_one(QUERIES.touch_import, id=self._run.id, run_key=self._run_key) is None:
            raise RunSuperseded

    async def _record_plan(self, report: ImportReport) -> int:
        row = await self._shard.fetch_one(
            QUERIES.record_import_plan,
            id=self._run.id,
            run_key=self._run_key,
            total=report.total,
            known=report.already_imported,
            following_here=report.following_here[:MAX_PEOPLE_SHOWN],
            followers_here=report.followers_here[:MAX_PEOPLE_SHOWN],
        )
        if row is None:
            raise RunSuperseded
        return row["known_before"]

    async def _write(self, report: ImportReport, known_before: int) -> None:
        lines = [Line("skipped", each) for each in report.skipped[self._skipped_written :]]
        lines += [Line("changed", each) for each in report.notes[self._notes_written :]]
        async with self._shard.begin() as tx:
            counts = {
                "done": report.done,
                "imported": report.imported + report.already_imported - known_before,
            }
            names = {"id": self._run.id, "run_key": self._run_key}
            if await tx.fetch_one(QUERIES.record_import_progress, **names, **counts) is None:
                raise RunSuperseded
            for at in range(0, len(lines), LINES):
                await tx.execute(QUERIES.add_import_lines, **self._columns(lines[at : at + LINES]))
        self._skipped_written, self._notes_written = len(report.skipped), len(report.notes)
        self._written_at = time.monotonic()

    def _columns(self, lines: list[Line]) -> dict[str, object]:
        return {
            "import_id": self._run.id,
            "account_id": self._run.account_id,
            "kinds": [line.kind for line in lines],
            "names": [line.about.name[:MAX_NAME_LENGTH] for line in lines],
            "codes": [line.about.code for line in lines],
            "reasons": [line.about.reason[:MAX_NAME_LENGTH] for line in lines],
            "digests": [_digest(line) for line in lines],
        }


def _digest(line: Line) -> str:
    named = f"{line.kind}\0{line.about.name}\0{line.about.code}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]
