"""What a migrator did, where it stopped and why: exact enough to act on, short enough to print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import asyncpg

from shardwright.errors import MigrationRefused
from shardwright.migrating.targets import Target
from shardwright.topology import SQLSTATE_NOT_OWNER

_SHOWN = 20


@dataclass(frozen=True)
class Progress:
    """One thing that happened: `done` of `total` targets are finished by now."""

    what: Literal["applied", "waited", "finished", "failed"]
    target: Target
    detail: str
    done: int
    total: int


OnProgress = Callable[[Progress], None]


@dataclass
class Outcome:
    """What one target got, and the fault that stopped it there, if one did."""

    target: Target
    applied: list[str] = field(default_factory=list[str])
    error: str | None = None


@dataclass
class Report:
    """What happened to every target that lacked something."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    not_started: list[Target] = field(default_factory=list[Target])

    @property
    def finished(self) -> list[Outcome]:
        """Targets that now have every migration."""
        return [outcome for outcome in self.outcomes if outcome.error is None]

    @property
    def failed(self) -> list[Outcome]:
        """Targets that stopped at a fault; what they had applied before it stays applied."""
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
            lines.append("  Nothing of a failed migration was kept; run again to go on from here.")
        return "\n".join(lines)


class MigrationFailed(MigrationRefused):
    """Some targets could not be brought up to date; `report` says which, and what the others got."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report


def describe(fault: Exception) -> str:
    """A fault in one line: the migration it comes from and what to do where that is known."""
    where = ": ".join(getattr(fault, "__notes__", ()))
    text = str(fault) or type(fault).__name__
    if isinstance(fault, asyncpg.PostgresError):
        sqlstate = getattr(fault, "sqlstate", "")  # asyncpg sets it without declaring it
        if sqlstate == SQLSTATE_NOT_OWNER:
            text = "the shard has moved to another server: run again with the latest map"
        elif isinstance(fault, asyncpg.LockNotAvailableError):
            text = f"{text}: others hold the table longer than every attempt waited"
        text = f"{text} ({sqlstate})"
    return f"{where}: {text}" if where else text
