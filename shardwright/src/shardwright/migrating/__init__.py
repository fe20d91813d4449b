"""Changes the schema of every shard: plain SQL files, applied in parallel, checked and compared.

Owns the table `schema_version` in each shard and in each server's schema `common`. `Migrator` is the whole of
it; `lint` and `check_snapshot` are for an application's own tests.
"""

from shardwright.migrating.catalog import Fact
from shardwright.migrating.drift import Difference
from shardwright.migrating.files import Folder, Migration, Waiver
from shardwright.migrating.linting import RULES, Finding, lint
from shardwright.migrating.locking import LOCK_CLASS
from shardwright.migrating.migrator import MapSource, Migrator
from shardwright.migrating.pace import Pace
from shardwright.migrating.progress import progress_bar
from shardwright.migrating.report import MigrationFailed, OnProgress, Outcome, Progress, Report
from shardwright.migrating.snapshot import check_snapshot, snapshot
from shardwright.migrating.status import Standing, Status
from shardwright.migrating.targets import Target

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
    "OnProgress",
    "Outcome",
    "Pace",
    "Progress",
    "Report",
    "Standing",
    "Status",
    "Target",
    "Waiver",
    "check_snapshot",
    "lint",
    "progress_bar",
    "snapshot",
]
