"""A server's folder: data, configuration and password, owned by the account that runs it.

The configuration is next to the data, not in it: it is rewritten at every start, so a change of settings takes effect,
and a copy of the data (a base backup) does not contain another server's port.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardwright.errors import SetupInvalid
from shardwright.local.binaries import PostgresBinaries, find_binaries
from shardwright.local.system_accounts import (
    DEFAULT_ACCOUNT,
    SystemAccount,
    adopt_folder,
    chown_to,
    former_owner,
    run_as,
    server_account,
)

_SUPERUSER = "postgres"
_HBA = """\
# Only this machine, only with the password.
host all all 127.0.0.1/32 scram-sha-256
host replication all 127.0.0.1/32 scram-sha-256
"""


@dataclass(frozen=True)
class ServerFiles:
    """A prepared folder, and how to start its server."""

    directory: Path
    port: int
    binaries: PostgresBinaries
    account: SystemAccount | None

    @property
    def data(self) -> Path:
        """PostgreSQL's own data directory."""
        return self.directory / "data"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.directory / "server.log"

    def command(self) -> list[str]:
        """Return the command that runs the server in the foreground."""
        return [self.binaries.program("postgres"), "-D", str(self.directory)]

    def popen_kwargs(self) -> dict[str, Any]:  # values differ in type: they are subprocess' keywords
        """Return the keyword arguments for `Popen`: the account, an accessible working directory, no terminal."""
        return {
            **run_as(self.account),
            "cwd": self.directory,
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,
        }

    def password(self) -> str:
        """Return the superuser's password."""
        return password_file(self.directory).read_text().strip()

    def dsn(self, database: str = "postgres") -> str:
        """Return the address of a database as the superuser."""
        return f"postgresql://{_SUPERUSER}:{self.password()}@127.0.0.1:{self.port}/{database}"

    def dsn_without_password(self) -> str:
        """Return the address as the superuser for a command line, which every account can read."""
        return f"postgresql://{_SUPERUSER}@127.0.0.1:{self.port}/postgres"


def prepare(
    directory: Path,
    *,
    port: int | None = None,
    durable: bool = True,
    settings: Mapping[str, str] | None = None,
    account_name: str = DEFAULT_ACCOUNT,
) -> ServerFiles:
    """Create or update the folder of a server; safe to repeat.

    Without a port the folder's last one is reused, unless another program has taken it meanwhile. As root, the server
    runs as the account of this name, to which the folder of an account shared with others is handed over.
    """
    directory = directory.absolute()
    binaries, account = find_binaries(), _choose_account(directory, account_name)
    make_folder(directory, account)
    files = ServerFiles(directory, port or _choose_port(directory), binaries, account)
    if not (files.data / "PG_VERSION").exists():
        _init(files)
    _write(directory / "port", f"{files.port}\n", account)
    _write(directory / "pg_hba.conf", _HBA, account)
    _write(
        directory / "postgresql.conf", _configuration(files, durable=durable, extra=settings or {}), account
    )
    return files


def _choose_account(directory: Path, name: str) -> SystemAccount | None:
    account = server_account(name)
    former = former_owner(directory, account)
    if former is not None and _has_server(directory / "data"):
        return former  # until its next start
    adopt_folder(directory, account)
    return account


def _has_server(data: Path) -> bool:
    """Whether a server is running in the data directory, as far as its pid file and the kernel say."""
    try:
        pid = int((data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, 0)
    except (FileNotFoundError, IndexError, ValueError, ProcessLookupError):
        return False
    return True


def make_folder(directory: Path, account: SystemAccount | None) -> None:
    """Create the folder, private to the account; raises when the account could not access it."""
    if account is not None and not account.can_traverse(directory.parent):
        raise SetupInvalid(
            f"The account {account.name}, which runs PostgreSQL for root, cannot access {directory.parent}: "
            "choose a folder that every account may traverse, such as one under /var/lib or /var/tmp."
        )
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True, mode=0o755)
    if is_new or not any(directory.iterdir()):
        directory.chmod(0o700)
        chown_to(directory, account)
    if account is not None and not account.can_traverse(directory):
        raise SetupInvalid(
            f"{directory} belongs to another user: the account {account.name} cannot access it."
        )


def password_file(directory: Path) -> Path:
    """Return the path of the superuser's password."""
    return directory / "password"


def free_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _choose_port(directory: Path) -> int:
    kept = directory / "port"
    if not kept.exists():
        return free_port()
    port = int(kept.read_text())
    if (directory / "data" / "postmaster.pid").exists():
        return port  # very likely ours, and running
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return free_port()
    return port


def _init(files: ServerFiles) -> None:
    """Run initdb; a data directory left unfinished by a crash is created again."""
    password = password_file(files.directory)
    if not password.exists():
        _write(password, secrets.token_hex(16), files.account)
    unfinished = files.directory / "data.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    done = subprocess.run(
        [
            files.binaries.program("initdb"),
            "-D",
            str(unfinished),
            f"--pwfile={password}",
            *_init_options(files),
        ],
        check=False,
        capture_output=True,
        text=True,
        **files.popen_kwargs(),
    )
    if done.returncode != 0:
        raise SetupInvalid(f"initdb failed in {files.directory}: {done.stderr.strip()}")
    unfinished.rename(files.data)


def _init_options(files: ServerFiles) -> list[str]:
    options = [
        f"--username={_SUPERUSER}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--data-checksums",
        "--no-sync",
    ]
    # The same collation on every server, whatever the machine's locale: byte order, with Unicode character classes.
    options.append("--locale=C")
    if files.binaries.major >= 17:  # noqa: PLR2004 - the release that brought the built-in provider
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    if files.binaries.major >= 16:  # noqa: PLR2004 - the release that made it a setting
        # A generated password of 128 bits needs no key stretching, which is expensive for Python clients.
        options += ["--set", "scram_iterations=1"]
    return options


def _configuration(files: ServerFiles, *, durable: bool, extra: Mapping[str, str]) -> str:
    settings = {
        "data_directory": str(files.data),
        "hba_file": str(files.directory / "pg_hba.conf"),
        "ident_file": str(files.data / "pg_ident.conf"),
        "port": str(files.port),
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": "",
        "password_encryption": "scram-sha-256",
        "max_connections": "200",
        "wal_level": "logical",
        "max_wal_senders": "20",
        "max_replication_slots": "20",
        # Each move of shards has a worker that applies changes, and a few that copy tables.
        "max_logical_replication_workers": "12",
        "max_sync_workers_per_subscription": "4",
        "max_worker_processes": "24",
        # pg_dump, DROP SCHEMA and moves lock every table of a shard, and a server holds thousands of shards.
        "max_locks_per_transaction": "1024",
        "log_timezone": "UTC",
        "timezone": "UTC",
        "fsync": "on" if durable else "off",
        # Without fsync a torn page can only come from a lost machine, and then the data is lost anyway.
        "full_page_writes": "on" if durable else "off",
    }
    if sys.platform == "linux":
        # Crash restart with 154,000 files: 0.43 s instead of 64.
        settings["recovery_init_sync_method"] = "syncfs"
    if files.binaries.major >= 18:  # noqa: PLR2004 - the release that brought it
        settings["io_method"] = "worker" if durable else "sync"
        settings["autovacuum_worker_slots"] = "4"  # each reserves as many locks as a connection
    settings |= extra
    quoted = {name: value.replace("\\", "\\\\").replace("'", "''") for name, value in settings.items()}
    return "".join(f"{name} = '{value}'\n" for name, value in quoted.items())


def _write(path: Path, text: str, account: SystemAccount | None) -> None:
    """Replace a private file atomically: a reader sees the old text or the new."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    chown_to(fresh, account)
    fresh.replace(path)
