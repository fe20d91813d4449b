"""Upgrades of the library's own SQL in the directory, on every server and in every shard."""

from shardwright.migrations.upgrade.progress_bar import upgrade_bar
from shardwright.migrations.upgrade.status import LibraryStatus, ServerLibrary, read_library_status
from shardwright.migrations.upgrade.steps import STEPS, Release, Step
from shardwright.migrations.upgrade.upgrader import UpgradeFailed, UpgradeReport, upgrade_library

__all__ = [
    "STEPS",
    "LibraryStatus",
    "Release",
    "ServerLibrary",
    "Step",
    "UpgradeFailed",
    "UpgradeReport",
    "read_library_status",
    "upgrade_bar",
    "upgrade_library",
]
