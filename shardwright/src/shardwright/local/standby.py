"""A streaming standby of a local server, for failover tests."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from shardwright.errors import SetupInvalid
from shardwright.local.files import ServerFiles, make_folder, password_file
from shardwright.local.server import LocalServer
from shardwright.local.system_accounts import chown_to

# By default a standby that lost its primary retries every five seconds, and is promoted only then.
_FAST_RECONNECT = {"wal_retrieve_retry_interval": "100ms"}


def base_backup_command(primary: ServerFiles, data: Path) -> tuple[list[str], dict[str, str]]:
    """The command that copies the data of a running server to a new folder, and its environment with the password.

    Run it as the primary's account, with options of your own at the end.
    """
    command = [
        primary.binaries.program("pg_basebackup"),
        f"--dbname={primary.dsn_without_password()}",
        f"--pgdata={data}",
        "--wal-method=stream",
        "--checkpoint=fast",
    ]
    return command, {"PGPASSWORD": primary.password()}


def make_standby(
    primary: LocalServer,
    directory: Path,
    *,
    settings: Mapping[str, str] | None = None,
) -> LocalServer:
    """Start a hot standby that follows the primary asynchronously, with the primary's settings."""
    files = primary.files
    make_folder(directory.absolute(), files.account)
    data = directory.absolute() / "data"
    command, environment = base_backup_command(files, data)
    done = subprocess.run(
        [*command, "--write-recovery-conf", "--no-sync"],
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
        **files.popen_kwargs(),
    )
    if done.returncode != 0:
        raise SetupInvalid(f"pg_basebackup failed: {done.stderr.strip()}")
    # The roles are part of the copied data, so the password file must be copied too.
    copied = shutil.copy2(password_file(primary.directory), password_file(directory.absolute()))
    chown_to(Path(copied), files.account)
    standby = LocalServer(
        directory,
        durable=primary.durable,
        settings={**_FAST_RECONNECT, **primary.settings, **(settings or {})},
    )
    standby.start()
    return standby
