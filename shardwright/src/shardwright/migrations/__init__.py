"""Schema migrations of every shard: plain SQL files, linted, applied in parallel, checked for drift.

Owns the table `schema_version` in each shard and in each server's schema `common`. `Migrator` is the main class;
`lint` and `check_snapshot` are for an application's own tests.
"""

from shardwright.migrations.advisory_locks import LOCK_CLASS
from shardwright.migrations.catalog import Fact
from shardwright.migrations.drift import Difference
from shardwright.migrations.files import Folder, Migration, Waiver
from shardwright.migrations.linter import RULES, Finding, lint
from shardwright.migrations.migrator import MapSource, Migrator
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.progress_bar import progress_bar
from shardwright.migrations.report import MigrationFailed, OnProgress, Outcome, Progress, Report
from shardwright.migrations.snapshot import check_snapshot, snapshot
from shardwright.migrations.status import Status, TargetStatus
from shardwright.migrations.targets import Target

__all__ = [
    "LOCK_CLASS",
    "RULES",
    "Difference",
    "Fact",
    "Finding",
    "Folder",
    "MapSource",
    "Migration",
    "MigrationFailed",
    "Migrator",
    "MigratorOptions",
    "OnProgress",
    "Outcome",
    "Progress",
    "Report",
    "Status",
    "Target",
    "TargetStatus",
    "Waiver",
    "check_snapshot",
    "lint",
    "progress_bar",
    "snapshot",
]
