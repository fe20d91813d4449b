"""Report of a migration run: what was applied where, what failed and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import asyncpg

from shardwright.errors import MigrationRefused
from shardwright.migrations.targets import Target
from shardwright.topology import SQLSTATE_NOT_OWNER

_SHOWN = 20


@dataclass(frozen=True)
class Progress:
    """A progress event: `done` of `total` targets are finished so far."""

    what: Literal["applied", "waited", "finished", "failed"]
    target: Target
    detail: str
    done: int
    total: int


OnProgress = Callable[[Progress], None]


@dataclass
class Outcome:
    """What was applied to one target, and the error that stopped it, if any."""

    target: Target
    applied: list[str] = field(default_factory=list[str])
    error: str | None = None


@dataclass
class Report:
    """Outcomes of all targets that had pending migrations."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    not_started: list[Target] = field(default_factory=list[Target])

    @property
    def finished(self) -> list[Outcome]:
        """Targets that now have every migration."""
        return [outcome for outcome in self.outcomes if outcome.error is None]

    @property
    def failed(self) -> list[Outcome]:
        """Targets that stopped at an error; what was applied before it stays applied."""
        return [outcome for outcome in self.outcomes if outcome.error is not None]

    def __str__(self) -> str:
        lines = [
            f"{len(self.finished)} finished, {len(self.failed)} failed, {len(self.not_started)} not started"
        ]
        lines += [f"  {outcome.target}: {outcome.error}" for outcome in self.failed[:_SHOWN]]
        if len(self.failed) > _SHOWN:
            lines.append(f"  … and {len(self.failed) - _SHOWN} more failed")
        if self.not_started:
            names = ", ".join(target.schema for target in self.not_started[:_SHOWN])
            more = " …" if len(self.not_started) > _SHOWN else ""
            lines.append(f"  not started: {names}{more}")
        if self.failed:
            lines.append("  A failed migration was rolled back; run again to continue from here.")
            lines.append(
                "  If the file is wrong: edit it if no shard has it, else write one that says `-- supersedes: NNNN`."
            )
        return "\n".join(lines)


class MigrationFailed(MigrationRefused):
    """Some targets could not be brought up to date; `report` has the outcome of each."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def describe(error: Exception) -> str:
    """Describe an error in one line: its migration, and what to do where that is known."""
    where = ": ".join(getattr(error, "__notes__", ()))
    text = str(error) or type(error).__name__
    if isinstance(error, asyncpg.PostgresError):
        sqlstate = getattr(error, "sqlstate", "")  # asyncpg sets it without declaring it
        if sqlstate == SQLSTATE_NOT_OWNER:
            text = "the shard has moved to another server: run again with the latest map"
        elif isinstance(error, asyncpg.LockNotAvailableError):
            text = f"{text}: the table was locked by others during every attempt"
        text = f"{text} ({sqlstate})"
    return f"{where}: {text}" if where else text
