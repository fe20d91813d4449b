"""Ways in which a backup or a restore says no; each message says what to do next."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable


class BackupDamaged(Invalid):
    """The backup is damaged: something in it is missing or has changed since it was written."""

    code = "backup_damaged"


class BackupFailed(Unavailable):
    """The backup could not be finished; the earlier ones are as they were."""

    code = "backup_failed"


class BackupNotFound(NotFound):
    """There is no such backup at that place."""

    code = "backup_not_found"


class BackupRunning(Conflict):
    """Another backup to the same place is running."""

    code = "backup_running"


class DestinationUnreachable(Unavailable):
    """The place of the backups does not answer."""

    code = "backup_place_unreachable"


class NotEmpty(Conflict):
    """Something is restored onto an empty data directory and an empty media store alone."""

    code = "restore_not_empty"


class PassphraseWrong(Forbidden):
    """That is not the passphrase of these backups."""

    code = "backup_passphrase_wrong"


class RestoreFailed(Unavailable):
    """The backup could not be restored."""

    code = "restore_failed"
