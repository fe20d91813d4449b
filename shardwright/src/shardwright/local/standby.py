"""A streaming standby of a private server, for proofs about fail-over."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from shardwright.errors import SetupInvalid
from shardwright.local.accounts import hand_over
from shardwright.local.files import make_folder, password_file
from shardwright.local.server import LocalServer

# A standby that lost its primary looks for it again every five seconds by default, and is promoted only then.
_QUICK = {"wal_retrieve_retry_interval": "100ms"}


def make_standby(
    primary: LocalServer,
    directory: Path,
    *,
    settings: Mapping[str, str] | None = None,
) -> LocalServer:
    """Return a started hot standby that follows the primary asynchronously, with the primary's settings."""
    files = primary.files
    make_folder(directory.absolute(), files.account)
    data = directory.absolute() / "data"
    done = subprocess.run(
        [
            files.binaries.program("pg_basebackup"),
            f"--dbname={primary.dsn()}",
            f"--pgdata={data}",
            "--write-recovery-conf",
            "--wal-method=stream",
            "--checkpoint=fast",
            "--no-sync",
        ],
        check=False,
        capture_output=True,
        text=True,
        **files.popen_kwargs(),
    )
    if done.returncode != 0:
        raise SetupInvalid(f"pg_basebackup failed: {done.stderr.strip()}")
    # The accounts came along with the data, and so must the password.
    copied = shutil.copy2(password_file(primary.directory), password_file(directory.absolute()))
    hand_over(Path(copied), files.account)
    standby = LocalServer(
        directory, durable=primary.durable, settings={**_QUICK, **primary.settings, **(settings or {})}
    )
    standby.start()
    return standby
