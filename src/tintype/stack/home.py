"""The data directory: what lies where, who may enter, and who holds it just now.

An ordinary user's home is private to the last folder. Root's home must let the servers' account pass through
to its own folders (0711), so there the private parts are closed one level further down.
"""

import contextlib
import fcntl
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from shardwright.local import Account, server_account
from tintype.stack.errors import AlreadyRunning, HomeUnusable

_PRIVATE = 0o700
_PASSABLE = 0o711
_OWNER_ONLY = 0o600


@dataclass(frozen=True)
class Home:
    """Paths inside a data directory."""

    root: Path

    @property
    def logs(self) -> Path:
        """What every program said, one file each."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """The lock and the state of the running stack; nothing in it outlives a stop in meaning."""
        return self.root / "run"

    @property
    def secrets(self) -> Path:
        """Passwords made on first start."""
        return self.root / "secrets"

    @property
    def ports(self) -> Path:
        """The ports this home has been using."""
        return self.root / "ports.json"

    @property
    def state(self) -> Path:
        """What the supervisor keeps running at this moment."""
        return self.run / "state.json"

    def postgres(self, number: int) -> Path:
        """The folder of one embedded PostgreSQL server, counted from 1."""
        return self.root / f"postgres-{number}"

    def count_postgres(self) -> int:
        """How many embedded PostgreSQL servers have data here."""
        found = (each.name.removeprefix("postgres-") for each in self.root.glob("postgres-*"))
        return max((int(each) for each in found if each.isdecimal()), default=0)

    @property
    def mark(self) -> str:
        """Names this very folder in the environment of its processes; a copy of it has another mark."""
        return f"{self.root.stat().st_ino}:{self.root}"

    def create(self) -> None:
        """Have the folders exist with safe permissions, however often it is called."""
        account = server_account()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            self.root.chmod(_PRIVATE if account is None else _PASSABLE)
            for private in (self.logs, self.run, self.secrets):
                private.mkdir(exist_ok=True)
                private.chmod(_PRIVATE)
        except OSError as error:
            raise HomeUnusable(
                f"The data directory {self.root} cannot be made or written: {error.strerror}. "
                "Choose another with --home, or give it to the user who runs this."
            ) from error
        if account is not None and not account.may_enter(self.root):
            raise HomeUnusable(
                f"The account {account.name}, which runs the servers for root, cannot enter {self.root}. "
                "Choose one that everyone may pass through, such as --home /var/lib/tintype/main."
            )

    def own(self, folder: Path, account: Account | None) -> Path:
        """Have a private folder that belongs to the account (or to us)."""
        folder.mkdir(exist_ok=True)
        folder.chmod(_PRIVATE)
        if account is not None:
            os.chown(folder, account.uid, account.gid)
        return folder

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the home alone. However we end, the kernel lets go of it: the lock cannot go stale."""
        with (self.run / "lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise AlreadyRunning(
                    f"Tintype already runs in {self.root}. See `tintype status`; stop it with `tintype down`."
                ) from error
            yield


def place_home(wanted: Path, *, is_chosen: bool) -> Path:
    """Return the data directory to use: the wanted one, or for root one that the servers can reach.

    A checkout under /root is closed to the account that runs the servers; then, unless the operator chose the
    place, it moves to /var/lib/tintype, under a name made from the wanted path.
    """
    account = server_account()
    if is_chosen or account is None or account.may_enter(wanted.parent):
        return wanted
    slug = "-".join(part.strip(".") for part in wanted.parts[1:])
    return Path("/var/lib/tintype") / slug


def write_private(path: Path, text: str, account: Account | None = None) -> None:
    """Replace a file whole, readable by its owner alone: a reader sees the old text or the new."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w") as file:
        file.write(text)
    if account is not None:
        os.chown(fresh, account.uid, account.gid)
    fresh.replace(path)
