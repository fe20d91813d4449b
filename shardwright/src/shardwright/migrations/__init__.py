"""Schema migrations of every shard: plain SQL files, linted, applied in parallel, checked for drift.

Owns the table `schema_version` in each shard and in each server's schema `common`. `Migrator` is the main class;
`lint` and `check_snapshot` are for an application's own tests.
"""

from shardwright.migrations.advisory_locks import LOCK_CLASS
from shardwright.migrations.catalog import Fact, hash_facts, read_facts
from shardwright.migrations.ddl import write_schema
from shardwright.migrations.drift import Difference, differences
from shardwright.migrations.files import Folder, Migration, Waiver
from shardwright.migrations.linter import RULES, Finding, lint
from shardwright.migrations.migrator import MapSource, Migrator
from shardwright.migrations.options import MigratorOptions
from shardwright.migrations.progress_bar import progress_bar
from shardwright.migrations.report import MigrationFailed, OnProgress, Outcome, Progress, Report
from shardwright.migrations.snapshot import check_snapshot, snapshot
from shardwright.migrations.status import Status, TargetStatus
from shardwright.migrations.targets import COMMON_SCHEMA, Target
from shardwright.migrations.upgrade import (
    LibraryStatus,
    Release,
    Step,
    UpgradeFailed,
    UpgradeReport,
    read_library_status,
    upgrade_bar,
    upgrade_library,
)
from shardwright.migrations.versions import VERSION_TABLE, read_versions

__all__ = [
    "COMMON_SCHEMA",
    "LOCK_CLASS",
    "RULES",
    "VERSION_TABLE",
    "Difference",
    "Fact",
    "Finding",
    "Folder",
    "LibraryStatus",
    "MapSource",
    "Migration",
    "MigrationFailed",
    "Migrator",
    "MigratorOptions",
    "OnProgress",
    "Outcome",
    "Progress",
    "Release",
    "Report",
    "Status",
    "Step",
    "Target",
    "TargetStatus",
    "UpgradeFailed",
    "UpgradeReport",
    "Waiver",
    "check_snapshot",
    "differences",
    "hash_facts",
    "lint",
    "progress_bar",
    "read_facts",
    "read_library_status",
    "read_versions",
    "snapshot",
    "upgrade_bar",
    "upgrade_library",
    "write_schema",
]
