"""Backups: copies of a whole site, made while it runs, and their restore into an empty data directory.

Owns the format of a place of backups (a directory or an S3 bucket): manifests, base backups and WAL of every PostgreSQL
server, media files that backups share, and secrets. It has no tables. Only the command line and tests import it.
"""

from tintype.backup.errors import (
    BackupDamaged,
    BackupFailed,
    BackupNotFound,
    BackupRunning,
    DestinationUnreachable,
    NotEmpty,
    PassphraseWrong,
    RestoreFailed,
)
from tintype.backup.models import Manifest, Report
from tintype.backup.place import open_place
from tintype.backup.restore import refuse_used, restore
from tintype.backup.service import Backups

__all__ = [
    "BackupDamaged",
    "BackupFailed",
    "BackupNotFound",
    "BackupRunning",
    "Backups",
    "DestinationUnreachable",
    "Manifest",
    "NotEmpty",
    "PassphraseWrong",
    "Report",
    "RestoreFailed",
    "open_place",
    "refuse_used",
    "restore",
]
