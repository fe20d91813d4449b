"""The data directory (the setting `home`): its layout, its permissions and its lock.

An ordinary user's data directory is private (0700). Root's must let the servers' account traverse it to reach that
account's own folders (0711), so there the private folders below it are closed instead.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from shardwright.local import SystemAccount, adopt_folder
from tintype.stack.engine_account import engine_account
from tintype.stack.errors import AlreadyRunning, DataDirectoryUnusable

_PRIVATE = 0o700
_TRAVERSABLE = 0o711
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class DataDirectory:
    """Paths inside a data directory."""

    root: Path

    @property
    def logs(self) -> Path:
        """Log files, one per program."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Lock file and state of the running stack; meaningless once it has stopped."""
        return self.root / "run"

    @property
    def secrets(self) -> Path:
        """Passwords generated on first start."""
        return self.root / "secrets"

    @property
    def ports(self) -> Path:
        """File with the ports used by earlier starts."""
        return self.root / "ports.json"

    @property
    def state(self) -> Path:
        """File with the supervisor's view of every program."""
        return self.run / "state.json"

    def postgres(self, number: int) -> Path:
        """The folder of one embedded PostgreSQL server, counted from 1."""
        return self.root / f"postgres-{number}"

    def replica(self, number: int, replica: int) -> Path:
        """The folder of one replica of an embedded PostgreSQL server, both counted from 1."""
        return self.root / f"postgres-{number}-replica-{replica}"

    def replicas(self, number: int) -> list[Path]:
        """The folders of all replicas that an embedded PostgreSQL server has or had."""
        return sorted(self.root.glob(f"postgres-{number}-replica-*"))

    def count_postgres(self) -> int:
        """How many embedded PostgreSQL servers have data in this directory, their own or a replica's."""
        found = (
            re.fullmatch(r"postgres-(\d+)(-replica-\d+)?", each.name) for each in self.root.glob("postgres-*")
        )
        return max((int(each[1]) for each in found if each), default=0)

    @property
    def mark(self) -> str:
        """Environment marker of this directory's processes; includes the inode, so a copy of the directory differs."""
        return f"{self.root.stat().st_ino}:{self.root}"

    def create(self) -> None:
        """Create the folders with safe permissions; safe to repeat."""
        account = engine_account()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self.root.chmod(_PRIVATE if account is None else _TRAVERSABLE)
            for private in (self.logs, self.run, self.secrets):
                private.mkdir(exist_ok=True)
                private.chmod(_PRIVATE)
        except OSError as error:
            raise DataDirectoryUnusable(
                f"The data directory {self.root} cannot be created or written: {error.strerror}. "
                "Choose another with --home, or give it to the user who runs Tintype."
            ) from error
        if account is not None and not account.can_traverse(self.root):
            raise DataDirectoryUnusable(
                f"The account {account.name}, which runs the servers for root, cannot access {self.root}. "
                "Choose one that every account may traverse, such as --home /var/lib/tintype/main."
            )

    def create_private(self, folder: Path, account: SystemAccount | None) -> Path:
        """Create a private folder owned by the account, or by us when it is None."""
        adopt_folder(folder, account)
        folder.mkdir(exist_ok=True)
        folder.chmod(_PRIVATE)
        if account is not None:
            os.chown(folder, account.uid, account.gid)
        return folder

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the directory exclusively. The kernel releases the lock when we exit: it cannot go stale."""
        with (self.run / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyRunning(
                    f"Tintype is already running in {self.root}. See `tintype status`; stop it with `tintype down`."
                ) from error
            yield


def choose_data_directory(wanted: Path, *, is_chosen: bool) -> Path:
    """Return the data directory to use: the wanted one, or for root one that the servers can access.

    A checkout under /root is closed to the account that runs the servers; then, unless the operator chose the
    directory, it becomes one under /var/lib/tintype, named after the wanted path.
    """
    account = engine_account()
    if is_chosen or account is None or account.can_traverse(wanted.parent):
        return wanted
    slug = "-".join(part.strip(".") for part in wanted.parts[1:])
    return Path("/var/lib/tintype") / slug


def write_private(path: Path, text: str, account: SystemAccount | None = None) -> None:
    """Replace a file atomically, readable by its owner alone: a reader sees the old text or the new."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w") as file:
        file.write(text)
    if account is not None:
        os.chown(fresh, account.uid, account.gid)
    fresh.replace(path)
